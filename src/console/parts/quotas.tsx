import { Button, Code, Group, Paper, Progress, Stack, Text, TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { SubmitEvent } from 'react';
import { api, issuesOf } from '../api.ts';
import { useChange } from '../changes.ts';
import { quotas } from '../people_queries.ts';
import type { Key, QuotasOfKeys } from '../people_queries.ts';
import { Failed } from './failed.tsx';
import { fieldOf } from './form.ts';
import { Loading } from './paged.tsx';
import { Refused } from './refused.tsx';

const BYTES_PER_MB = 1_000_000;
const MINUTES_PER_HOUR = 60;
const SECONDS_PER_MINUTE = 60;

const count = new Intl.NumberFormat();
const megabytes = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const inCount = (value: number): string => count.format(value);
const inMegabytes = (bytes: number): string => `${megabytes.format(bytes / BYTES_PER_MB)} MB`;

type UseProps = {
  label: string;
  used: number;
  quota: number | null;
  format: (value: number) => string;
};

const PERCENT = 100;
const NEAR_PERCENT = 90;

/** What a key has used of one quota. Color alone says nothing: the text says when a quota is used up. */
const Use = ({ label, used, quota, format }: UseProps) => {
  const isUp = quota !== null && used >= quota;
  const percent = quota === null ? 0 : isUp ? PERCENT : (PERCENT * used) / quota;
  return (
    <Stack gap={4} flex={1} miw={220}>
      <Group justify="space-between" gap="xs">
        <Text size="sm">{label}</Text>
        <Text size="sm" className="number">
          {format(used)} {quota === null ? '(no quota)' : `of ${format(quota)}`}
        </Text>
      </Group>
      <Progress
        value={percent}
        color={isUp ? 'red' : percent >= NEAR_PERCENT ? 'yellow' : 'blue'}
        aria-label={label}
      />
      {isUp && (
        <Text size="sm" c="red">
          {quota === 0 ? 'This quota allows nothing.' : 'Used up until midnight UTC.'}
        </Text>
      )}
    </Stack>
  );
};

const UseOfKey = ({ item, read }: { item: Key; read: QuotasOfKeys }) => {
  const use = read.items.find(({ key_id }) => key_id === item.id);
  const name = `the key that ends in ${item.last_four}`;
  return (
    <Group component="li" gap="xs" aria-label={`Use of ${name}`}>
      <Code>…{item.last_four}</Code>
      <Group gap="md" align="flex-start" w="100%">
        <Use
          label="New profiles today"
          used={use?.new_profiles ?? 0}
          quota={read.new_profiles_per_day}
          format={inCount}
        />
        <Use
          label="Stored today"
          used={use?.stored_bytes ?? 0}
          quota={read.stored_bytes_per_day}
          format={inMegabytes}
        />
      </Group>
    </Group>
  );
};

const WHOLE = /^\d{0,12}$/;
const NOT_WHOLE = 'Enter a whole number, or leave the field empty for no quota.';

/** Returns the quota of a field; an empty one is no quota. */
const toQuota = (text: string, unit = 1): number | null =>
  text === '' ? null : Number(text) * unit;

/** A quota as a whole number; an empty field is no quota. */
const Amount = (props: {
  name: string;
  label: string;
  usual: number;
  value: number | null;
  error: string | undefined;
}) => (
  <TextInput
    name={props.name}
    label={props.label}
    description={`Empty is no quota, 0 allows nothing. Default: ${inCount(props.usual)}.`}
    defaultValue={props.value ?? ''}
    inputMode="numeric"
    error={props.error}
    flex={1}
    miw={200}
  />
);

const Change = ({ projectId, read }: { projectId: string; read: QuotasOfKeys }) => {
  const [wrong, setWrong] = useState<Record<string, string>>({});
  const change = useChange(
    projectId,
    ['quotas', 'audit'],
    (given: { newProfilesPerDay: number | null; storedBytesPerDay: number | null }) =>
      api.quotas.change.mutate({ projectId, ...given }),
  );
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const [profiles, stored] = [fieldOf(form, 'profiles').trim(), fieldOf(form, 'stored').trim()];
    setWrong({
      ...(WHOLE.test(profiles) ? {} : { profiles: NOT_WHOLE }),
      ...(WHOLE.test(stored) ? {} : { stored: NOT_WHOLE }),
    });
    if (!WHOLE.test(profiles) || !WHOLE.test(stored)) return;
    change.mutate({
      newProfilesPerDay: toQuota(profiles),
      storedBytesPerDay: toQuota(stored, BYTES_PER_MB),
    });
  };
  const issues = issuesOf(change.error);
  const { new_profiles_per_day, stored_bytes_per_day, defaults } = read;
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="xs">
        <Group align="flex-start" gap="sm">
          <Amount
            key={`profiles ${new_profiles_per_day}`}
            name="profiles"
            label="New profiles a day"
            usual={defaults.new_profiles_per_day}
            value={new_profiles_per_day}
            error={wrong['profiles'] ?? issues['newProfilesPerDay']}
          />
          <Amount
            key={`stored ${stored_bytes_per_day}`}
            name="stored"
            label="Stored data a day, in MB"
            usual={defaults.stored_bytes_per_day / BYTES_PER_MB}
            value={stored_bytes_per_day && Math.ceil(stored_bytes_per_day / BYTES_PER_MB)}
            error={wrong['stored'] ?? issues['storedBytesPerDay']}
          />
        </Group>
        <Group>
          <Button type="submit" variant="default" loading={change.isPending}>
            Save quotas
          </Button>
        </Group>
        <Refused error={change.error} fields={['newProfilesPerDay', 'storedBytesPerDay']} />
        {change.isSuccess && (
          <Text size="sm" role="status">
            Saved. The quotas apply within seconds.
          </Text>
        )}
      </Stack>
    </form>
  );
};

/** The hours and minutes until the day is over by UTC. */
const untilMidnight = (seconds: number): string => {
  const minutes = Math.ceil(seconds / SECONDS_PER_MINUTE);
  return `${Math.floor(minutes / MINUTES_PER_HOUR)} h ${minutes % MINUTES_PER_HOUR} min`;
};

/** The daily quotas of publishable keys, with today's use of each key. */
export const Quotas = ({ projectId, items }: { projectId: string; items: Key[] }) => {
  const ids = items.map(({ id }) => id);
  const { data, isPending, error } = useQuery(quotas(projectId, ids));
  if (isPending) return <Loading />;
  if (!data) return <Failed error={error} />;
  return (
    <Paper withBorder p="md" component="section" aria-label="Daily quotas">
      <Stack gap="sm">
        <Title order={2} size="h4">
          Daily quotas
        </Title>
        <Text size="sm" c="dimmed">
          What each publishable key may store in a day. Past a quota, Trunkline answers 429.
          Browsers that were there before go on when the quota for new profiles is used up. One
          address may use 5% of a quota. The next day begins in {untilMidnight(data.seconds_left)},
          at midnight UTC.
        </Text>
        {items.length > 0 && (
          <Stack component="ul" gap="sm" p={0} m={0} style={{ listStyle: 'none' }}>
            {items.map((item) => (
              <UseOfKey key={item.id} item={item} read={data} />
            ))}
          </Stack>
        )}
        <Change projectId={projectId} read={data} />
      </Stack>
    </Paper>
  );
};
