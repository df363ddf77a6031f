import { ActionIcon, Button, Group, Select, Stack, Text, TextInput, Tooltip } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { BranchPanel } from './branch_panel.tsx';
import {
  SETTINGS_PANEL,
  SIMULATE_PANEL,
  TRIGGER_PANEL,
  useEditor,
  useErrors,
} from './editor_context.ts';
import { exitsOf } from './exits.ts';
import type { Step } from './exits.ts';
import { kinds } from './kinds.ts';
import { MailPanel } from './mail_panel.tsx';
import { leadTo, moveEarlier, moveLater, renameStep } from './model.ts';
import { ExitPanel, UpdatePanel, WebhookPanel } from './other_panels.tsx';
import { SettingsPanel } from './settings_panel.tsx';
import { SimulatePanel } from './simulate_panel.tsx';
import { SplitPanel } from './split_panel.tsx';
import { TriggerPanel } from './trigger_panel.tsx';
import { DelayPanel, EventPanel, UntilPanel } from './wait_panels.tsx';

const Fields = ({ id, step }: { id: string; step: Step }) => {
  switch (step.kind) {
    case 'send_email':
      return <MailPanel id={id} step={step} />;
    case 'delay':
      return <DelayPanel id={id} step={step} />;
    case 'delay_until':
      return <UntilPanel id={id} step={step} />;
    case 'wait_for_event':
      return <EventPanel id={id} step={step} />;
    case 'branch':
      return <BranchPanel id={id} step={step} />;
    case 'split':
      return <SplitPanel id={id} step={step} />;
    case 'update_profile':
      return <UpdatePanel id={id} step={step} />;
    case 'webhook':
      return <WebhookPanel id={id} step={step} />;
    case 'exit':
      return <ExitPanel id={id} step={step} />;
  }
};

const STEP_NAME = /^[a-z][a-z0-9_]{0,49}$/;

const Name = ({ id }: { id: string }) => {
  const { definition, change, select } = useEditor();
  const [typed, setTyped] = useState(id);
  const isTaken = typed !== id && Object.hasOwn(definition.steps, typed);
  const isWrong = !STEP_NAME.test(typed);
  const keep = (): void => {
    if (typed === id || isTaken || isWrong) return;
    change(renameStep(definition, id, typed));
    select(typed);
  };
  return (
    <TextInput
      label="Name of the step"
      description="In logs and reports. People at a step keep their place as long as its name stays."
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value)}
      onBlur={keep}
      onKeyDown={(event) => event.key === 'Enter' && keep()}
      error={
        isTaken
          ? 'another step has this name'
          : isWrong
            ? 'lower case letters, digits and _, at most 50'
            : undefined
      }
    />
  );
};

const END = '/end';

const LeadsTo = ({ id, step }: { id: string; step: Step }) => {
  const { definition, change } = useEditor();
  const errorOf = useErrors(`/steps/${id}`);
  const others = Object.keys(definition.steps).filter((other) => other !== id);
  const data = [...others.map((value) => ({ value, label: value })), { value: END, label: 'End' }];
  return exitsOf(step).map(({ label, next }, exit) => (
    <Select
      key={exit}
      label={label === '' ? 'Leads to' : `${label}: leads to`}
      data={data}
      value={next ?? END}
      onChange={(to) => change(leadTo(definition, { after: id, exit }, to === END ? null : to))}
      allowDeselect={false}
      error={label === '' ? errorOf('next') : undefined}
      size="xs"
    />
  ));
};

const Actions = ({ id }: { id: string }) => {
  const { definition, change, remove } = useEditor();
  return (
    <Group gap="xs">
      <Tooltip label="Earlier (Alt ↑)">
        <ActionIcon
          variant="default"
          size="lg"
          aria-label="Move this step earlier"
          onClick={() => change(moveEarlier(definition, id))}
        >
          <IconArrowUp size={18} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Later (Alt ↓)">
        <ActionIcon
          variant="default"
          size="lg"
          aria-label="Move this step later"
          onClick={() => change(moveLater(definition, id))}
        >
          <IconArrowDown size={18} />
        </ActionIcon>
      </Tooltip>
      <Button
        variant="light"
        color="red"
        leftSection={<IconTrash size={16} />}
        onClick={() => remove(id)}
      >
        Delete step
      </Button>
    </Group>
  );
};

const StepFields = ({ id, step }: { id: string; step: Step }) => {
  const errorOf = useErrors('/steps');
  const { issues } = useEditor();
  const own = issues.some(({ path }) => path === `/steps/${id}`) ? errorOf(id) : undefined;
  return (
    <Stack gap="md">
      {own !== undefined && (
        <Text size="sm" c="red" role="alert">
          {own}
        </Text>
      )}
      <Fields id={id} step={step} />
      <LeadsTo id={id} step={step} />
      <Name id={id} />
      <Actions id={id} />
    </Stack>
  );
};

const TITLES: Record<string, string> = {
  [TRIGGER_PANEL]: 'Trigger',
  [SETTINGS_PANEL]: 'Settings',
  [SIMULATE_PANEL]: 'Simulate',
};

/** What the panel is called: by what is open. */
export const usePanelTitle = (): string => {
  const { definition, selected } = useEditor();
  const step = selected === null ? undefined : definition.steps[selected];
  return step ? kinds[step.kind].word : (TITLES[selected ?? ''] ?? '');
};

/** What can be said of whatever is open: the trigger, the settings, the past, or a step. */
export const Panel = () => {
  const { definition, selected } = useEditor();
  const step = selected === null ? undefined : definition.steps[selected];
  return (
    <>
      {selected === TRIGGER_PANEL && <TriggerPanel />}
      {selected === SETTINGS_PANEL && <SettingsPanel />}
      {selected === SIMULATE_PANEL && <SimulatePanel />}
      {step && selected !== null && <StepFields key={selected} id={selected} step={step} />}
    </>
  );
};
