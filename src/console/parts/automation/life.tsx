import { Alert, Button, Group, Loader, Menu, Text } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
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
  archive: {
    says: 'Archive it for good, end it for everyone inside, and cancel its queued email?',
    yes: 'Yes, archive it',
    color: 'red',
  },
  move: {
    says: 'Move everyone inside to the active version, at the step where they are?',
    yes: 'Yes, move them',
    color: 'cyan',
  },
  delete: {
    says:
      'Delete it with its versions and its runs, and cancel its queued email? ' +
      'Emails that were sent stay in the send log and on timelines.',
    yes: 'Yes, delete it',
    color: 'red',
  },
};

const useActs = (projectId: string, automationId: string) => {
  const of = { projectId, automationId };
  const names = ['automations', 'runs'];
  const navigate = useNavigate();
  return {
    activate: useChange(projectId, names, () => api.automations.activate.mutate(of)),
    pause: useChange(projectId, names, () => api.automations.pause.mutate(of)),
    resume: useChange(projectId, names, () => api.automations.resume.mutate(of)),
    archive: useChange(projectId, names, () => api.automations.archive.mutate(of)),
    move: useChange(projectId, names, () => api.automations.move.mutate(of)),
    delete: useChange(projectId, ['automations'], async () => {
      await api.automations.delete.mutate(of);
      await navigate({ to: '/p/$projectId/automations', params: { projectId } });
    }),
  };
};

type Asked = keyof typeof ASKED;

const Sure = ({ what, onYes, onNo }: { what: Asked; onYes: () => void; onNo: () => void }) => (
  <Alert color="orange" w="100%" role="alertdialog" aria-label={ASKED[what].says}>
    <Group justify="space-between">
      {ASKED[what].says}
      <Group gap="xs">
        <Button size="xs" color={ASKED[what].color} onClick={onYes}>
          {ASKED[what].yes}
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

type MoreProps = { kept: Automation; onAsk: (what: Asked) => void };

/** What is done rarely, each asked about before it is done. Of an archived automation only its deletion is left. */
const More = ({ kept, onAsk }: MoreProps) => {
  const isArchived = kept.status === 'archived';
  const hasOthers = kept.inside.some(({ version }) => version !== kept.active_version);
  return (
    <Menu position="bottom-end" shadow="md">
      <Menu.Target>
        <Button variant="default" px="xs" aria-label="More">
          <IconDots size={18} />
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {!isArchived && (
          <>
            <Menu.Item
              disabled={kept.active_version === null || !hasOthers}
              onClick={() => onAsk('move')}
            >
              Move people to version {kept.active_version ?? '…'}
            </Menu.Item>
            <Menu.Item color="red" onClick={() => onAsk('archive')}>
              Archive
            </Menu.Item>
          </>
        )}
        <Menu.Item color="red" onClick={() => onAsk('delete')}>
          Delete
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

type StepsProps = Props & { acts: Acts };

/** Saves, activates, pauses and resumes. */
const Steps = ({ kept, isDirty, save, isSaving, canSave, acts }: StepsProps) => {
  const { activate, pause, resume } = acts;
  const begin = async (): Promise<void> => {
    if (isDirty && (await save()) === null) return;
    activate.mutate(undefined);
  };
  return (
    <>
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
    </>
  );
};

/** What may be done with an automation as it stands. */
export const Life = (props: Props) => {
  const { projectId, kept } = props;
  const acts = useActs(projectId, kept.id);
  const [asked, setAsked] = useState<Asked | null>(null);
  return (
    <>
      <Group gap="xs">
        {kept.status === 'archived' ? (
          <Text c="dimmed">What happened in it stays to be read.</Text>
        ) : (
          <Steps {...props} acts={acts} />
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
