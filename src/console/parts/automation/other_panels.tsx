import { ActionIcon, Button, Group, Input, Stack, Switch, Text, TextInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { EndpointChoice } from './choice.tsx';
import { useEditor, useErrors } from './editor_context.ts';
import type { StepOf } from './exits.ts';
import { ScalarField } from './scalar_field.tsx';

type Entries<V> = [string, V][];
type RowsProps<V> = {
  label: string;
  description: string;
  entries: Entries<V>;
  onChange: (entries: Entries<V>) => void;
  fresh: V;
  error: string | undefined;
  field: (value: V, set: (value: V) => void, name: string) => React.ReactNode;
};

/** Traits by their names, each with what it becomes. */
const Rows = <V,>({ entries, onChange, fresh, field, ...wrapper }: RowsProps<V>) => (
  <Input.Wrapper {...wrapper} labelElement="div">
    <Stack gap="xs" mt={4}>
      {entries.map(([name, value], at) => {
        const set = (entry: [string, V]) =>
          onChange(entries.map((one, place) => (place === at ? entry : one)));
        return (
          <Group key={at} gap={6} wrap="nowrap" align="flex-start">
            <TextInput
              aria-label="Trait"
              placeholder="trait"
              value={name}
              onChange={(event) => set([event.currentTarget.value, value])}
              spellCheck={false}
              w={120}
            />
            <Stack gap={4} flex={1} miw={0}>
              {field(value, (next) => set([name, next]), name)}
            </Stack>
            <ActionIcon
              variant="subtle"
              color="gray"
              mt={5}
              aria-label={`Remove ${name || 'this trait'}`}
              onClick={() => onChange(entries.filter((_, place) => place !== at))}
            >
              <IconTrash size={16} />
            </ActionIcon>
          </Group>
        );
      })}
      <Button
        variant="default"
        size="xs"
        leftSection={<IconPlus size={14} />}
        style={{ alignSelf: 'flex-start' }}
        disabled={entries.some(([name]) => name === '')}
        onClick={() => onChange([...entries, ['', fresh]])}
      >
        Add a trait
      </Button>
    </Stack>
  </Input.Wrapper>
);

export const UpdatePanel = ({ id, step }: { id: string; step: StepOf<'update_profile'> }) => {
  const { setStep, definition } = useEditor();
  const errorOf = useErrors(`/steps/${id}`);
  return (
    <Stack gap="md">
      <Rows
        label="Set"
        description="The same for everybody."
        entries={Object.entries(step.traits)}
        onChange={(entries) => setStep(id, { ...step, traits: Object.fromEntries(entries) })}
        fresh={'' as string | number | boolean | null}
        error={errorOf('traits') ?? errorOf('')}
        field={(value, set, name) => (
          <>
            {value !== null && (
              <ScalarField label={`Value of ${name}`} value={value} onChange={set} />
            )}
            <Switch
              size="xs"
              label="remove it"
              checked={value === null}
              onChange={(event) => set(event.currentTarget.checked ? null : '')}
            />
          </>
        )}
      />
      {definition.trigger.kind === 'event' && (
        <Rows
          label="Copy from the event that started it"
          description="Which property becomes which trait."
          entries={Object.entries(step.traits_from_event)}
          onChange={(entries) =>
            setStep(id, { ...step, traits_from_event: Object.fromEntries(entries) })
          }
          fresh=""
          error={errorOf('traits_from_event')}
          field={(value, set, name) => (
            <TextInput
              aria-label={`Property for ${name}`}
              placeholder="property"
              value={value}
              onChange={(event) => set(event.currentTarget.value)}
              spellCheck={false}
            />
          )}
        />
      )}
    </Stack>
  );
};

export const WebhookPanel = ({ id, step }: { id: string; step: StepOf<'webhook'> }) => {
  const { projectId, setStep } = useEditor();
  const errorOf = useErrors(`/steps/${id}`);
  const { on_failure, ...rest } = step;
  return (
    <Stack gap="sm">
      <EndpointChoice
        projectId={projectId}
        label="Endpoint"
        value={step.endpoint_id}
        onChange={(endpoint_id) => setStep(id, { ...step, endpoint_id })}
        error={errorOf('endpoint_id')}
      />
      <Switch
        label="A way of its own for whom it was not told of"
        checked={on_failure !== undefined}
        onChange={(event) =>
          setStep(id, event.currentTarget.checked ? { ...rest, on_failure: step.next } : rest)
        }
      />
      <Text size="sm" c="dimmed">
        The call is signed, and tried again with growing pauses until the endpoint says that it has
        it.
      </Text>
    </Stack>
  );
};

export const ExitPanel = ({ id, step }: { id: string; step: StepOf<'exit'> }) => {
  const { setStep } = useEditor();
  const errorOf = useErrors(`/steps/${id}`);
  return (
    <TextInput
      label="Why"
      description="For whoever reads what happened: lower case letters, digits and _"
      value={step.reason ?? ''}
      onChange={(event) => {
        const reason = event.currentTarget.value;
        setStep(id, reason === '' ? { kind: 'exit' } : { kind: 'exit', reason });
      }}
      error={errorOf('reason')}
    />
  );
};
