import { ActionIcon, Button, Group, Paper, Select, Stack, Text } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { ConditionTree } from '../condition/condition_tree.tsx';
import { errorAt, useEditor } from './editor_context.ts';
import type { Condition, StepOf } from './exits.ts';
import { EventField, FiltersField } from './fields.tsx';
import { withoutLost } from './model.ts';
import { SEND_FACTS } from './words.ts';

type Props = { id: string; step: StepOf<'branch'> };
type Branch = StepOf<'branch'>['branches'][number];

const ON = [
  { value: 'profile', label: 'Their traits' },
  { value: 'person', label: 'Anything known of them' },
  { value: 'trigger', label: 'The event that started it' },
  { value: 'event', label: 'An event since then' },
  { value: 'send', label: 'A mail of this automation' },
];

const newCondition = (on: string, mail: string): Condition => {
  if (on === 'person') return { on, where: { kind: 'all', of: [{ kind: 'subscribed' }] } };
  if (on === 'event') return { on, event: '', filters: [] };
  if (on === 'send') return { on, step: mail, became: 'delivered' };
  return { on: on === 'trigger' ? 'trigger' : 'profile', filters: [] };
};

type OneProps = {
  condition: Condition;
  onChange: (condition: Condition) => void;
  /** Where it is in the definition. */
  at: string;
};

type OfEventProps = Omit<OneProps, 'condition'> & {
  condition: Extract<Condition, { on: 'event' }>;
};

const OfEvent = ({ condition, onChange, at }: OfEventProps) => {
  const { projectId, issues } = useEditor();
  const errorOf = (pointer: string) => errorAt(issues, pointer);
  return (
    <Stack gap="xs">
      <EventField
        projectId={projectId}
        label="Event"
        value={condition.event}
        onChange={(event) => onChange({ ...condition, event })}
        error={errorOf(`${at}/event`)}
      />
      <FiltersField
        label="Only when"
        value={condition.filters}
        onChange={(filters) => onChange({ ...condition, filters })}
        error={errorOf(`${at}/filters`)}
      />
    </Stack>
  );
};

const Fields = ({ condition, onChange, at }: OneProps) => {
  const { projectId, issues, definition } = useEditor();
  const errorOf = (pointer: string) => errorAt(issues, pointer);
  switch (condition.on) {
    case 'person':
      return (
        <ConditionTree
          projectId={projectId}
          condition={condition.where}
          onChange={(where) => onChange({ ...condition, where })}
          at={`${at}/where`}
          errorAt={errorOf}
        />
      );
    case 'profile':
    case 'trigger':
      return (
        <FiltersField
          label={condition.on === 'profile' ? 'Traits' : 'Properties'}
          what={condition.on === 'profile' ? 'Trait' : 'Property'}
          value={condition.filters}
          onChange={(filters) => onChange({ ...condition, filters })}
          error={errorOf(at)}
        />
      );
    case 'event':
      return <OfEvent condition={condition} onChange={onChange} at={at} />;
    case 'send':
      return (
        <Group gap="xs" grow>
          <Select
            label="Mail"
            data={Object.keys(definition.steps).filter(
              (id) => definition.steps[id]?.kind === 'send_email',
            )}
            value={condition.step === '' ? null : condition.step}
            onChange={(step) => onChange({ ...condition, step: step ?? '' })}
            error={errorOf(`${at}/step`)}
          />
          <Select
            label="What became of it"
            data={SEND_FACTS}
            value={condition.became}
            onChange={(became) => onChange({ ...condition, became } as Condition)}
            allowDeselect={false}
          />
        </Group>
      );
  }
};

const One = ({ onRemove, ...props }: OneProps & { onRemove: (() => void) | null }) => {
  const { definition } = useEditor();
  const { condition, onChange } = props;
  const [mail = ''] = Object.keys(definition.steps).filter(
    (id) => definition.steps[id]?.kind === 'send_email',
  );
  return (
    <Stack gap="xs">
      <Group gap="xs" wrap="nowrap">
        <Select
          aria-label="What is asked"
          data={ON}
          value={condition.on}
          onChange={(on) => on !== null && onChange(newCondition(on, mail))}
          allowDeselect={false}
          flex={1}
        />
        {onRemove && (
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label="Remove this condition"
            onClick={onRemove}
          >
            <IconTrash size={16} />
          </ActionIcon>
        )}
      </Group>
      <Fields {...props} />
    </Stack>
  );
};

const Way = ({ id, step, at, branch }: Props & { at: number; branch: Branch }) => {
  const { setStep, definition, change } = useEditor();
  const set = (when: Condition[]) =>
    setStep(id, {
      ...step,
      branches: step.branches.map((one, place) => (place === at ? { ...one, when } : one)),
    });
  const remove = (): void => {
    const branches = step.branches.filter((_, place) => place !== at);
    const steps = { ...definition.steps, [id]: { ...step, branches } };
    change(withoutLost(definition, { ...definition, steps }));
  };
  return (
    <Paper withBorder p="sm">
      <Stack gap="sm">
        <Group justify="space-between">
          <Text size="sm" fw={600}>
            {step.branches.length === 1 ? 'Yes, when' : `Way ${at + 1}, when`}
          </Text>
          {step.branches.length > 1 && (
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Remove way ${at + 1}`}
              onClick={remove}
            >
              <IconTrash size={16} />
            </ActionIcon>
          )}
        </Group>
        {branch.when.map((condition, place) => (
          <One
            key={place}
            condition={condition}
            at={`/steps/${id}/branches/${at}/when/${place}`}
            onChange={(next) =>
              set(branch.when.map((one, index) => (index === place ? next : one)))
            }
            onRemove={
              branch.when.length > 1
                ? () => set(branch.when.filter((_, index) => index !== place))
                : null
            }
          />
        ))}
        <Button
          variant="subtle"
          size="compact-xs"
          leftSection={<IconPlus size={12} />}
          style={{ alignSelf: 'flex-start' }}
          onClick={() => set([...branch.when, newCondition('profile', '')])}
        >
          And also …
        </Button>
      </Stack>
    </Paper>
  );
};

export const BranchPanel = ({ id, step }: Props) => {
  const { setStep } = useEditor();
  const add = (): void =>
    setStep(id, {
      ...step,
      branches: [...step.branches, { when: [newCondition('profile', '')], next: null }],
    });
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        The first way whose conditions all hold is taken; else the way “Otherwise”.
      </Text>
      {step.branches.map((branch, at) => (
        <Way key={at} id={id} step={step} at={at} branch={branch} />
      ))}
      <Button
        variant="default"
        size="xs"
        leftSection={<IconPlus size={14} />}
        style={{ alignSelf: 'flex-start' }}
        onClick={add}
      >
        Add a way
      </Button>
    </Stack>
  );
};
