import { Alert, Progress, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Provider } from '../api.ts';
import { silences } from '../queries.ts';
import { ProviderAnswer } from './provider_answer.tsx';
import { Status } from './status.tsx';
import { When } from './when.tsx';

const circuits = {
  closed: { word: 'In use', color: 'green' },
  open: { word: 'Paused after failures', color: 'orange' },
  probing: { word: 'Being tried again', color: 'orange' },
} as const;

const wordOf = ({ status, pace }: Provider, isSilent: boolean) => {
  if (status === 'parked') return { word: 'Parked', color: 'red' } as const;
  if (pace.paused !== null) return { word: 'Held', color: 'orange' } as const;
  if (pace.circuit !== 'closed') return circuits[pace.circuit];
  return isSilent ? ({ word: 'Does not answer', color: 'orange' } as const) : circuits.closed;
};

type Props = { provider: Provider; projectId: string };

const useSilence = ({ provider, projectId }: Props) =>
  useQuery(silences(projectId)).data?.find(({ provider_id }) => provider_id === provider.id);

/** How a provider stands, in a word. */
export const ProviderStatus = (props: Props) => (
  <Status {...wordOf(props.provider, useSilence(props) !== undefined)} />
);

const Ramp = ({ today }: { today: { allowed: number; used: number } }) => (
  <Stack gap={4}>
    <Text size="sm">
      Warm-up: {today.used.toLocaleString()} of {today.allowed.toLocaleString()} sends of today
      (UTC)
    </Text>
    <Progress
      value={today.allowed === 0 ? 100 : (100 * today.used) / today.allowed}
      aria-label="Sends of today's warm-up"
    />
    {today.used >= today.allowed && (
      <Text size="sm" c="dimmed">
        What is left waits for tomorrow, or expires.
      </Text>
    )}
  </Stack>
);

/** Why a provider sends less than it could, or nothing, and what to do about it. */
export const ProviderState = (props: Props) => {
  const { parked, pace } = props.provider;
  const silence = useSilence(props);
  return (
    <Stack gap="sm">
      {parked && (
        <Alert color="red" title={`Parked: ${parked.cause}`}>
          <Stack gap={4}>
            <ProviderAnswer answer={parked.answer} />
            <Text size="sm">{parked.fix}</Text>
          </Stack>
        </Alert>
      )}
      {pace.open_until !== null && pace.paused === null && (
        <Alert color="orange" title="Paused: it failed several times in a row">
          It is tried again by itself at <When at={pace.open_until} isDimmed={false} />.
        </Alert>
      )}
      {pace.paused && (
        <Alert color="orange" title={`Held: ${pace.paused.cause}`}>
          <Stack gap={4}>
            <ProviderAnswer answer={pace.paused.answer} />
            <Text size="sm">{pace.paused.fix}</Text>
            <Text size="sm">
              {pace.paused.until === null ? (
                'One email tries it just now.'
              ) : (
                <>
                  All its emails wait. One tries it again at{' '}
                  <When at={pace.paused.until} isDimmed={false} />.
                </>
              )}{' '}
              A test message that it takes, or saving its connection again, ends this at once.
            </Text>
          </Stack>
        </Alert>
      )}
      {silence && (
        <Alert color="orange" title="It does not answer">
          {silence.hand_offs.toLocaleString()} mails have had no answer since{' '}
          <When at={silence.since} isDimmed={false} />. {silence.fix}
        </Alert>
      )}
      {pace.is_rate_learned && !pace.paused && pace.rate_per_second !== null && (
        <Alert color="yellow" title="It throttles">
          It gets {pace.rate_per_second.toFixed(1)} sends a second at most for now. That doubles
          every five minutes; a test message that it takes, or saving its connection again, ends it
          at once.
        </Alert>
      )}
      {pace.ramp_today && <Ramp today={pace.ramp_today} />}
    </Stack>
  );
};
