import { Alert, Button, Group, Stack } from '@mantine/core';
import { useState } from 'react';
import { api, isRefused } from '../api.ts';
import type { Send } from '../api.ts';
import { useChange } from '../changes.ts';
import { queryClient } from '../queries.ts';
import { ForRole } from './for_role.tsx';
import { Refused } from './refused.tsx';

const found = {
  accepted: {
    ask: 'All of them were sent',
    sure: (count: string) => `Yes, all ${count} were sent`,
  },
  not_sent: {
    ask: 'None of them was sent',
    sure: (count: string) => `Yes, none of the ${count} was sent`,
  },
  again: {
    ask: 'None of them was sent: send them again',
    sure: (count: string) => `Yes, send these ${count} again`,
  },
} as const;
type Found = keyof typeof found;
const FOUND = ['accepted', 'not_sent', 'again'] as const;

type Props = { projectId: string; items: readonly Send[] };
/** What somebody is about to say, and of which mails: of those that were there when they began. */
type Chosen = { what: Found; items: readonly Send[] };

const sayOf = (projectId: string, { id: sendId, attempts }: Send, what: Found) =>
  what === 'again'
    ? api.sends.sendAgain.mutate({ projectId, sendId, afterAttempt: attempts })
    : api.sends.resolve.mutate({ projectId, sendId, outcome: what });

/** Says of each what was found; of which it is known by now it stays so. */
const sayOfEach = async (projectId: string, { what, items }: Chosen): Promise<void> => {
  const said = await Promise.allSettled(items.map((send) => sayOf(projectId, send, what)));
  for (const one of said)
    if (one.status === 'rejected' && !isRefused(one.reason, 'send_not_unknown')) throw one.reason;
};

const Choice = ({ projectId, items }: Props) => {
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const say = useChange(projectId, ['sends', 'overview'], (those: Chosen) =>
    sayOfEach(projectId, those),
  );
  const press = (what: Found): void => {
    if (chosen?.what !== what) return setChosen({ what, items });
    say.mutate(chosen, {
      onSettled: () => setChosen(null),
      // Some of them may be known now.
      onError: () => void queryClient.invalidateQueries({ queryKey: ['sends', projectId] }),
    });
  };
  return (
    <Stack gap="sm" align="flex-start">
      <Group gap="sm">
        {FOUND.map((what) => (
          <Button
            key={what}
            size="xs"
            variant={chosen?.what === what ? 'filled' : 'default'}
            loading={say.isPending && say.variables.what === what}
            disabled={say.isPending && say.variables.what !== what}
            onClick={() => press(what)}
          >
            {chosen?.what === what
              ? found[what].sure(chosen.items.length.toLocaleString())
              : found[what].ask}
          </Button>
        ))}
      </Group>
      <Refused error={say.error} />
    </Stack>
  );
};

/** Says of several unknown sends at once what became of them: of those that are shown, none else. */
export const ResolveAll = ({ projectId, items }: Props) => {
  const unknown = items.filter(({ status, to }) => status === 'unknown' && to !== null);
  if (unknown.length < 2) return null;
  return (
    <ForRole projectId={projectId} role="editor" to="to say what became of these">
      <Alert
        color="orange"
        title={`Nobody knows of these ${unknown.length.toLocaleString()} mails whether they were sent`}
      >
        <Stack gap="sm">
          <span>
            Trunkline handed these over and got no answer. The log of the provider says what became
            of them. If it is the same for all of them, say it here once. Otherwise open them one by
            one.
          </span>
          <Choice projectId={projectId} items={unknown} />
        </Stack>
      </Alert>
    </ForRole>
  );
};
