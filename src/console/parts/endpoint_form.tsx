import { Button, Group, TextInput } from '@mantine/core';
import type { ReactNode, SubmitEvent } from 'react';
import { issuesOf } from '../api.ts';
import { fieldOf } from './form.ts';
import { Refused } from './refused.tsx';

type Typed = { name: string; url: string };

type Props = {
  typed?: Typed;
  label: string;
  change: {
    error: unknown;
    isPending: boolean;
    mutate: (typed: Typed, options: { onSuccess: () => void }) => void;
  };
  onDone?: () => void;
  children?: ReactNode;
};

/** What an endpoint is called, and where it is. */
export const EndpointForm = ({ typed, label, change, onDone, children }: Props) => {
  const issues = issuesOf(change.error);
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const next = { name: fieldOf(form, 'name').trim(), url: fieldOf(form, 'url').trim() };
    change.mutate(next, {
      onSuccess: () => {
        form.reset();
        onDone?.();
      },
    });
  };
  return (
    <form onSubmit={submit} noValidate>
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
        <Group gap="sm" mt={{ base: 0, sm: 25 }}>
          <Button type="submit" loading={change.isPending}>
            {label}
          </Button>
          {children}
        </Group>
      </Group>
      <Refused error={change.error} fields={['name', 'url']} />
    </form>
  );
};
