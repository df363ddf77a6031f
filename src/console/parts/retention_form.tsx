import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { SubmitEvent } from 'react';
import { api, issuesOf } from '../api.ts';
import type { Outputs } from '../api.ts';
import { useChange } from '../changes.ts';
import { isAtLeast, useRole } from '../people_queries.ts';
import { fieldOf, NOT_WHOLE, wholeOf } from './form.ts';
import { Refused } from './refused.tsx';

type Settings = Outputs['retention']['read']['settings'];
type Name = keyof Settings;

const FIELDS: readonly { name: Name; label: string; about: string }[] = [
  {
    name: 'content_days',
    label: 'Days to keep what emails said',
    about: 'Subject, HTML, text, and what the provider answered. From 1 to 3,650.',
  },
  {
    name: 'sends_months',
    label: 'Months to keep sends (optional)',
    about:
      'With attempts, feedback events and what runs decided. From 2 to 120. Empty: as long as events.',
  },
];
const NAMES = FIELDS.map(({ name }) => name);

type Props = { projectId: string; settings: Settings };

/** How long the project keeps what it sent; owners change it. */
export const RetentionForm = ({ projectId, settings }: Props) => {
  const isOwner = isAtLeast(useRole(projectId), 'owner');
  const [wrong, setWrong] = useState<Name[]>([]);
  const change = useChange(projectId, ['retention'], (given: Settings) =>
    api.retention.change.mutate({ projectId, ...given }),
  );
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const days = wholeOf(form, 'content_days');
    const months = wholeOf(form, 'sends_months');
    const asEvents = fieldOf(form, 'sends_months').trim() === '';
    setWrong(
      NAMES.filter(
        (name) => wholeOf(form, name) === null && !(name === 'sends_months' && asEvents),
      ),
    );
    if (days === null || (months === null && !asEvents)) return;
    change.mutate({ content_days: days, sends_months: months });
  };
  return (
    <form onSubmit={submit} noValidate aria-label="What was sent">
      <Stack>
        {FIELDS.map(({ name, label, about }) => (
          <TextInput
            key={`${name}/${settings[name]}`}
            name={name}
            label={label}
            description={about}
            defaultValue={settings[name] ?? ''}
            inputMode="numeric"
            readOnly={!isOwner}
            error={wrong.includes(name) ? NOT_WHOLE : issuesOf(change.error)[name]}
          />
        ))}
        <Refused error={change.error} fields={NAMES} />
        {isOwner ? (
          <Group>
            <Button type="submit" loading={change.isPending}>
              Change retention
            </Button>
            {change.isSuccess && wrong.length === 0 && (
              <Text size="sm" role="status">
                Changed. The daily job goes by it.
              </Text>
            )}
          </Group>
        ) : (
          <Text size="sm" c="dimmed">
            Owners change this.
          </Text>
        )}
      </Stack>
    </form>
  );
};
