import { Button, Group, MultiSelect, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { ReactNode, SubmitEvent } from 'react';
import { issuesOf } from '../api.ts';
import { EVENT_TYPE_CHOICES, knownTypes } from './event_type_words.ts';
import type { EventType } from './event_type_words.ts';
import { fieldOf } from './form.ts';
import { Refused } from './refused.tsx';

export type TypedEndpoint = { name: string; url: string; event_types: EventType[] };

type Props = {
  typed?: TypedEndpoint;
  label: string;
  change: {
    error: unknown;
    isPending: boolean;
    mutate: (typed: TypedEndpoint, options: { onSuccess: () => void }) => void;
  };
  onDone?: () => void;
  children?: ReactNode;
};

const ABOUT_TYPES =
  'Trunkline posts these events to the endpoint. Webhook steps can use it without any of them.';

const NameAndAddress = ({ typed, issues }: FieldsProps) => (
  <Group align="flex-start" gap="sm">
    <TextInput
      name="name"
      label="Name"
      placeholder="CRM"
      defaultValue={typed?.name ?? ''}
      error={issues['name']}
      flex={1}
      miw={160}
    />
    <TextInput
      name="url"
      type="url"
      label="Address"
      placeholder="https://example.com/hooks"
      defaultValue={typed?.url ?? ''}
      error={issues['url']}
      flex={2}
      miw={260}
    />
  </Group>
);
type FieldsProps = { typed: TypedEndpoint | undefined; issues: ReturnType<typeof issuesOf> };

/** What an endpoint is called, where it is, and what it subscribes to. */
export const EndpointForm = ({ typed, label, change, onDone, children }: Props) => {
  const issues = issuesOf(change.error);
  const [types, setTypes] = useState<string[]>(typed?.event_types ?? []);
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const next = {
      name: fieldOf(form, 'name').trim(),
      url: fieldOf(form, 'url').trim(),
      event_types: knownTypes(types),
    };
    change.mutate(next, {
      onSuccess: () => {
        form.reset();
        setTypes(typed?.event_types ?? []);
        onDone?.();
      },
    });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <NameAndAddress typed={typed} issues={issues} />
        <MultiSelect
          label="Subscriptions"
          description={ABOUT_TYPES}
          placeholder={types.length === 0 ? 'Choose events' : ''}
          data={EVENT_TYPE_CHOICES}
          value={types}
          onChange={setTypes}
          error={issues['event_types']}
          clearable
          searchable
        />
        <Group gap="sm">
          <Button type="submit" loading={change.isPending}>
            {label}
          </Button>
          {children}
        </Group>
        <Refused error={change.error} fields={['name', 'url', 'event_types']} />
      </Stack>
    </form>
  );
};
