import { Button, Checkbox, Group, Paper, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { SubmitEvent } from 'react';
import { api, issuesOf } from '../api.ts';
import type { AddressState } from '../api.ts';
import { useChange } from '../changes.ts';
import { fieldOf } from './form.ts';
import { Refused } from './refused.tsx';

type Props = { projectId: string; email: string };

const noteOf = (note: string) => (note === '' ? {} : { note });

type Said = {
  about: string;
  label: string;
  color?: string;
  noteLabel: string;
  /** What has to be ticked first, because somebody may regret it. */
  confirm?: string;
  change: (note: string) => Promise<unknown>;
};

/** One change with why it is made. */
const Change = ({
  projectId,
  about,
  label,
  color = 'cyan',
  noteLabel,
  confirm,
  change,
}: Said & Pick<Props, 'projectId'>) => {
  const [isConfirmed, setIsConfirmed] = useState(false);
  const made = useChange(projectId, ['addresses'], change);
  const issues = issuesOf(made.error);
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    made.mutate(fieldOf(event.currentTarget, 'note').trim());
  };
  return (
    <Paper withBorder p="md" component="form" onSubmit={submit} aria-label={label}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {about}
        </Text>
        <TextInput
          name="note"
          label={noteLabel}
          error={issues['note'] ?? issues['reason']}
          required={confirm !== undefined || noteLabel === 'Reason'}
          withAsterisk={false}
        />
        {confirm !== undefined && (
          <Checkbox
            label={confirm}
            checked={isConfirmed}
            onChange={(event) => setIsConfirmed(event.currentTarget.checked)}
          />
        )}
        <Refused error={made.error} fields={['note', 'reason']} />
        <Group>
          <Button
            type="submit"
            color={color}
            variant="light"
            loading={made.isPending}
            disabled={confirm !== undefined && !isConfirmed}
          >
            {label}
          </Button>
        </Group>
      </Stack>
    </Paper>
  );
};

const Suppress = ({ projectId, email }: Props) => (
  <Change
    projectId={projectId}
    about="No mail of this project goes to the address, whatever happens."
    label="Suppress"
    color="red"
    noteLabel="Note (optional)"
    change={(note) => api.suppressions.suppress.mutate({ projectId, email, ...noteOf(note) })}
  />
);

const Lift = ({ projectId, email, isComplaint }: Props & { isComplaint: boolean }) => (
  <Change
    projectId={projectId}
    about="Mail may go to the address again. A newer bounce or complaint suppresses it anew."
    label="Lift the suppression"
    color="red"
    noteLabel="Reason"
    {...(isComplaint
      ? { confirm: 'The recipient marked our mail as spam. I know that, and lift it anyway.' }
      : {})}
    change={(reason) =>
      api.suppressions.lift.mutate({ projectId, email, reason, lift_complaint: isComplaint })
    }
  />
);

const Unsubscribe = ({ projectId, email }: Props) => (
  <Change
    projectId={projectId}
    about="No more marketing mail. What people need, such as receipts, still comes."
    label="Unsubscribe"
    noteLabel="Note (optional)"
    change={(note) => api.suppressions.unsubscribe.mutate({ projectId, email, ...noteOf(note) })}
  />
);

const Resubscribe = ({ projectId, email }: Props) => (
  <Change
    projectId={projectId}
    about="Marketing mail comes again. Only because the address’s owner asked for it."
    label="Subscribe again"
    noteLabel="Note (optional)"
    change={(note) => api.suppressions.resubscribe.mutate({ projectId, email, ...noteOf(note) })}
  />
);

/** Whether any word of a complaint still stands: a lift says so a second time then. */
const hasComplaint = ({ suppressed }: AddressState): boolean => suppressed?.reason === 'complaint';

/** What can be done about an address as it stands. */
export const AddressActions = ({ state, ...props }: Props & { state: AddressState }) => (
  <SimpleGrid cols={{ base: 1, md: 2 }}>
    {state.suppressed ? (
      <Lift key="lift" {...props} isComplaint={hasComplaint(state)} />
    ) : (
      <Suppress key="suppress" {...props} />
    )}
    {state.unsubscribed_at === null ? (
      <Unsubscribe key="unsubscribe" {...props} />
    ) : (
      <Resubscribe key="resubscribe" {...props} />
    )}
  </SimpleGrid>
);
