import { Alert, Button, Group, Loader, Menu, Text } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { useState } from 'react';
import { api } from '../../api.ts';
import type { Automation } from '../../automation_queries.ts';
import { useChange } from '../../changes.ts';
import { Refused } from '../refused.tsx';

type Props = {
  projectId: string;
  kept: Automation;
  isDirty: boolean;
  /** Saves what was changed; answers whether it was. */
  save: () => Promise<Automation | null>;
  isSaving: boolean;
  canSave: boolean;
};

const ASKED = {
  archive: 'Archive it for good, end it for everyone inside, and cancel its queued email?',
  move: 'Move everyone inside to the active version, at the step where they are?',
};

const useActs = (projectId: string, automationId: string) => {
  const of = { projectId, automationId };
  const names = ['automations', 'runs'];
  return {
    activate: useChange(projectId, names, () => api.automations.activate.mutate(of)),
    pause: useChange(projectId, names, () => api.automations.pause.mutate(of)),
    resume: useChange(projectId, names, () => api.automations.resume.mutate(of)),
    archive: useChange(projectId, names, () => api.automations.archive.mutate(of)),
    move: useChange(projectId, names, () => api.automations.move.mutate(of)),
  };
};

type Asked = keyof typeof ASKED;

const Sure = ({ what, onYes, onNo }: { what: Asked; onYes: () => void; onNo: () => void }) => (
  <Alert color="orange" w="100%" role="alertdialog" aria-label={ASKED[what]}>
    <Group justify="space-between">
      {ASKED[what]}
      <Group gap="xs">
        <Button size="xs" color={what === 'archive' ? 'red' : 'cyan'} onClick={onYes}>
          {what === 'archive' ? 'Yes, archive it' : 'Yes, move them'}
        </Button>
        <Button size="xs" variant="default" onClick={onNo}>
          No
        </Button>
      </Group>
    </Group>
  </Alert>
);

type MovedProps = { moved: { stayed: number; version: number | null } };

const Moved = ({ moved: { stayed, version } }: MovedProps) => (
  <Alert color="teal" role="status" w="100%">
    People inside follow version {version} from now on.
    {stayed > 0 &&
      ` At a step that it lacks, and still on their own version: ${stayed.toLocaleString()}.`}
  </Alert>
);

const UNDER_WAY = {
  resume: 'Resuming everyone inside',
  archive: 'Ending it for everyone inside, and cancelling queued email',
  move: 'Moving everyone inside to the new version',
};

/** The commands that count already, and that a job still writes on runs and email. */
const UnderWay = ({ commands }: Pick<Automation, 'commands'>) =>
  commands.map(({ kind, changed }) => (
    <Alert key={kind} color="cyan" role="status" w="100%" icon={<Loader size="xs" />}>
      {UNDER_WAY[kind]}. Written so far: {changed.toLocaleString()}.
    </Alert>
  ));

const More = ({ kept, onAsk }: { kept: Automation; onAsk: (what: Asked) => void }) => {
  const hasOthers = kept.inside.some(({ version }) => version !== kept.active_version);
  return (
    <Menu position="bottom-end" shadow="md">
      <Menu.Target>
        <Button variant="default" px="xs" aria-label="More">
          <IconDots size={18} />
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          disabled={kept.active_version === null || !hasOthers}
          onClick={() => onAsk('move')}
        >
          Move people to version {kept.active_version ?? '…'}
        </Menu.Item>
        <Menu.Item color="red" onClick={() => onAsk('archive')}>
          Archive
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
};

type Acts = ReturnType<typeof useActs>;

/** What came of the commands. */
const Outcomes = ({ acts, kept }: { acts: Acts; kept: Automation }) => (
  <>
    {acts.move.data && <Moved moved={acts.move.data} />}
    <UnderWay commands={kept.commands} />
    <Refused error={Object.values(acts).find((act) => act.error !== null)?.error} />
  </>
);

const Archived = ({ kept }: { kept: Automation }) => (
  <>
    <Text c="dimmed">What happened in it stays to be read.</Text>
    <UnderWay commands={kept.commands} />
  </>
);

/** What may be done with an automation as it stands. */
export const Life = ({ projectId, kept, isDirty, save, isSaving, canSave }: Props) => {
  const acts = useActs(projectId, kept.id);
  const { activate, pause, resume } = acts;
  const [asked, setAsked] = useState<Asked | null>(null);
  const begin = async (): Promise<void> => {
    if (isDirty && (await save()) === null) return;
    activate.mutate(undefined);
  };
  if (kept.status === 'archived') return <Archived kept={kept} />;
  return (
    <>
      <Group gap="xs">
        <Button
          variant="default"
          loading={isSaving}
          disabled={!isDirty || !canSave}
          onClick={() => void save()}
        >
          Save
        </Button>
        {(isDirty || kept.active_version !== kept.latest_version) && (
          <Button
            loading={activate.isPending}
            disabled={isDirty && !canSave}
            onClick={() => void begin()}
          >
            {isDirty ? 'Save and activate' : `Activate version ${kept.latest_version}`}
          </Button>
        )}
        {kept.status === 'active' && (
          <Button variant="default" loading={pause.isPending} onClick={() => pause.mutate()}>
            Pause
          </Button>
        )}
        {kept.status === 'paused' && (
          <Button loading={resume.isPending} onClick={() => resume.mutate(undefined)}>
            Resume
          </Button>
        )}
        <More kept={kept} onAsk={setAsked} />
      </Group>
      {asked !== null && (
        <Sure
          what={asked}
          onYes={() => {
            acts[asked].mutate(undefined);
            setAsked(null);
          }}
          onNo={() => setAsked(null)}
        />
      )}
      <Outcomes acts={acts} kept={kept} />
    </>
  );
};
