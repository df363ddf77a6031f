import { Alert, Button, Group, Stack, TextInput } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { api, isRefused } from '../../api.ts';
import { automation, simulation, simulationProgress } from '../../automation_queries.ts';
import type { Automation } from '../../automation_queries.ts';
import { useChange } from '../../changes.ts';
import { queryClient } from '../../queries.ts';
import { ForRole } from '../for_role.tsx';
import { Leaving } from '../leaving.tsx';
import { Refused } from '../refused.tsx';
import { Canvas } from './canvas.tsx';
import type { View } from './canvas.tsx';
import { EditorProvider } from './editor_context.ts';
import type { Simulator } from './editor_context.ts';
import type { Definition } from './exits.ts';
import { Life } from './life.tsx';
import { CannotActivate } from './local_links.tsx';
import { Toolbar } from './toolbar.tsx';
import { useAutomationEditor } from './use_automation_editor.ts';

const NARROW = '(max-width: 48em)';

/** Notes an answer of the server as what is known of the automation. */
const note = (projectId: string, shown: Omit<Automation, 'inside'>): Automation => {
  const key = ['automations', projectId, shown.id];
  const inside = queryClient.getQueryData<Automation>(key)?.inside ?? [];
  const kept = { ...shown, inside };
  queryClient.setQueryData(key, kept);
  return kept;
};

const Changed = ({ onTake }: { onTake: () => Promise<void> }) => (
  <Alert color="orange" role="alert" title="Somebody saved a newer version meanwhile">
    <Stack align="flex-start" gap="xs">
      What you did is still here. Look at the newer one under “Versions”, then decide.
      <Button size="xs" variant="default" onClick={() => void onTake()}>
        Save mine as the version after it
      </Button>
    </Stack>
  </Alert>
);

type Props = {
  projectId: string;
  kept: Automation;
  definition: Definition;
};

type Simulating = {
  projectId: string;
  kept: Automation;
  isDirty: boolean;
  canSave: boolean;
  save: () => Promise<Automation | null>;
};

/** Runs what is kept over the past; what is not kept yet is kept first. */
const useSimulator = ({ projectId, kept, isDirty, canSave, save }: Simulating): Simulator => {
  const [asked, setAsked] = useState<{ days: number; version: number } | null>(null);
  const { data, isFetching, error } = useQuery({
    ...simulation(projectId, kept.id, asked ?? { days: 1, version: 0 }),
    enabled: asked !== null,
  });
  const progress = useQuery(simulationProgress(projectId, kept.id));
  const run = async (days: number): Promise<void> => {
    const known = isDirty ? await save() : kept;
    if (known) setAsked({ days, version: known.latest_version });
  };
  return {
    run: (days) => void run(days),
    result: isDirty || asked === null ? null : (data ?? null),
    isRunning: isFetching,
    progress: isFetching ? (progress.data ?? null) : null,
    isDirty,
    canRun: !isDirty || canSave,
    error: asked === null ? null : error,
  };
};

/** An automation that is there, to be changed. */
export const AutomationEditor = ({ projectId, kept, definition: initial }: Props) => {
  const isNarrow = useMediaQuery(NARROW) ?? false;
  const [chosen, setView] = useState<View | null>(null);
  const view = chosen ?? (isNarrow ? 'list' : 'graph');
  const { editor, history } = useAutomationEditor({ projectId, kept, initial });
  const [saved, setSaved] = useState(initial);
  const seen = useRef(kept.latest_version);
  const { definition } = editor;
  const isDirty = definition !== saved;
  const keep = useChange(projectId, ['automations'], async (after: number) => {
    const shown = await api.automations.save.mutate({
      projectId,
      automationId: kept.id,
      after_version: after,
      definition,
    });
    seen.current = shown.latest_version;
    setSaved(definition);
    return note(projectId, shown);
  });
  const save = (after = seen.current): Promise<Automation | null> =>
    keep.mutateAsync(after).catch(() => null);
  const isChanged = isRefused(keep.error, 'automation_changed');
  const canSave = editor.issues.length === 0;
  const simulator = useSimulator({ projectId, kept, isDirty, canSave, save: () => save() });
  return (
    <EditorProvider value={{ ...editor, simulator, simulated: simulator.result }}>
      <Stack gap="sm">
        <Leaving isDirty={isDirty} />
        <Group justify="space-between" gap="sm">
          <Toolbar history={history} view={view} onView={setView} />
          <ForRole projectId={projectId} role="editor" to="to change it">
            <Life
              projectId={projectId}
              kept={kept}
              isDirty={isDirty}
              save={() => save()}
              isSaving={keep.isPending}
              canSave={canSave}
            />
          </ForRole>
        </Group>
        <CannotActivate issues={editor.activation} />
        {isChanged ? (
          <Changed
            onTake={async () => {
              const newest = { ...automation(projectId, kept.id), staleTime: 0 };
              await save((await queryClient.fetchQuery(newest)).latest_version);
            }}
          />
        ) : (
          <Refused error={keep.error} />
        )}
        <Canvas view={view} />
      </Stack>
    </EditorProvider>
  );
};

type NewProps = { projectId: string; definition: Definition };

/** An automation that is not there yet. */
export const NewAutomationEditor = ({ projectId, definition: initial }: NewProps) => {
  const isNarrow = useMediaQuery(NARROW) ?? false;
  const [chosen, setView] = useState<View | null>(null);
  const view = chosen ?? (isNarrow ? 'list' : 'graph');
  const [name, setName] = useState('');
  const navigate = useNavigate();
  const { editor, history } = useAutomationEditor({
    projectId,
    kept: null,
    initial,
  });
  const { definition } = editor;
  const make = useChange(projectId, ['automations'], async () => {
    const shown = await api.automations.create.mutate({ projectId, name: name.trim(), definition });
    note(projectId, shown);
    const params = { projectId, automationId: shown.id };
    await navigate({ to: '/p/$projectId/automations/$automationId', params });
  });
  const isDirty = (name !== '' || history.canUndo) && !make.isPending && !make.isSuccess;
  return (
    <EditorProvider value={editor}>
      <Stack gap="sm">
        <Leaving isDirty={isDirty} />
        <Group justify="space-between" align="flex-end" gap="sm">
          <TextInput
            label="Name"
            placeholder="Welcome series"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            flex={1}
            maw={420}
            miw={200}
          />
          <Button
            onClick={() => make.mutate(undefined)}
            loading={make.isPending}
            disabled={name.trim() === '' || editor.issues.length > 0}
          >
            Save as a draft
          </Button>
        </Group>
        <Toolbar history={history} view={view} onView={setView} />
        <CannotActivate issues={editor.activation} />
        <Refused error={make.error} />
        <Canvas view={view} />
      </Stack>
    </EditorProvider>
  );
};
