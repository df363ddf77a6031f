import { Alert, Button, Group, Stack } from '@mantine/core';
import { useState } from 'react';
import { api, isRefused } from '../api.ts';
import type { Send } from '../api.ts';
import { useChange } from '../changes.ts';
import { ForRole } from './for_role.tsx';
import { Refused } from './refused.tsx';

const outcomes = {
  accepted: {
    ask: 'All of them were sent',
    sure: (count: string) => `Yes, all ${count} were sent`,
  },
  not_sent: {
    ask: 'None of them was sent',
    sure: (count: string) => `Yes, none of the ${count} was sent`,
  },
} as const;
type Outcome = keyof typeof outcomes;
const OUTCOMES = ['accepted', 'not_sent'] as const;

type Props = { projectId: string; items: readonly Send[] };

/** Says of each what was found; of which it is known by now it stays so. */
const resolveEach = async ({ projectId, items }: Props, outcome: Outcome): Promise<void> => {
  const said = await Promise.allSettled(
    items.map(({ id }) => api.sends.resolve.mutate({ projectId, sendId: id, outcome })),
  );
  for (const one of said)
    if (one.status === 'rejected' && !isRefused(one.reason, 'send_not_unknown')) throw one.reason;
};

const Choice = (props: Props) => {
  const [chosen, setChosen] = useState<Outcome | null>(null);
  const resolve = useChange(props.projectId, ['sends', 'overview'], (outcome: Outcome) =>
    resolveEach(props, outcome),
  );
  const press = (outcome: Outcome): void => {
    if (chosen !== outcome) return setChosen(outcome);
    resolve.mutate(outcome, { onSettled: () => setChosen(null) });
  };
  return (
    <Stack gap="sm" align="flex-start">
      <Group gap="sm">
        {OUTCOMES.map((outcome) => (
          <Button
            key={outcome}
            size="xs"
            variant={chosen === outcome ? 'filled' : 'default'}
            loading={resolve.isPending && resolve.variables === outcome}
            disabled={resolve.isPending && resolve.variables !== outcome}
            onClick={() => press(outcome)}
          >
            {chosen === outcome
              ? outcomes[outcome].sure(props.items.length.toLocaleString())
              : outcomes[outcome].ask}
          </Button>
        ))}
      </Group>
      <Refused error={resolve.error} />
    </Stack>
  );
};

/** Says of several unknown sends at once what became of them: of those that are shown, none else. */
export const ResolveAll = ({ projectId, items }: Props) => {
  const unknown = items.filter(({ status }) => status === 'unknown');
  if (unknown.length < 2) return null;
  return (
    <ForRole projectId={projectId} role="editor" to="to say what became of these">
      <Alert
        color="orange"
        title={`Nobody knows of these ${unknown.length.toLocaleString()} mails whether they were sent`}
      >
        <Stack gap="sm">
          <span>
            Where a connection ended before the answer, or what handed them over did, the provider’s
            own log says what became of them. Where that is the same of all of them, say it here;
            otherwise open them one by one.
          </span>
          <Choice projectId={projectId} items={unknown} />
        </Stack>
      </Alert>
    </ForRole>
  );
};
