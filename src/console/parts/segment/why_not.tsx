import { Badge, Group, Stack, Text } from '@mantine/core';
import { IconCircleCheck, IconCircleX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { Profile } from '../../api.ts';
import { explainedIn } from '../../segment_queries.ts';
import type { Explained } from '../../segment_queries.ts';
import { KIND_WORDS, TEST_WORDS } from '../condition/shapes.ts';
import type { Condition, ConditionKind, Test } from '../condition/shapes.ts';
import { Failed } from '../failed.tsx';
import { Loading } from '../paged.tsx';
import { PersonPicker } from '../person_picker.tsx';
import { nameOf } from '../profile_name.ts';

type Clause = Explained['where'];

const testInWords = (test: Test): string => {
  if ('days' in test) return `is in the last ${test.days} days`;
  if ('values' in test) return `is one of ${test.values.join(', ')}`;
  return `${TEST_WORDS[test.is]}${'value' in test ? ` ${String(test.value)}` : ''}`;
};

const leafInWords = (condition: Condition): string => {
  switch (condition.kind) {
    case 'trait':
      return `${condition.trait} ${testInWords(condition.test)}`;
    case 'event': {
      const { event, count, within_days: days } = condition;
      const window = days === undefined ? 'ever' : `in the last ${days} days`;
      return `${event}: ${count.is.replaceAll('_', ' ')} ${count.value} times, ${window}`;
    }
    case 'event_time':
      return `${condition.occurrence} ${condition.event} ${testInWords(condition.test)}`;
    case 'tag':
      return `has the tag ${condition.tag.replaceAll('_', ' ')}`;
    default:
      return KIND_WORDS[condition.kind as ConditionKind] ?? 'is on a list';
  }
};

const GROUPS: Record<string, string> = {
  all: 'All of these',
  any: 'Any of these',
  not: 'Not this',
};

const Line = ({ clause }: { clause: Clause }) => {
  const { holds, kind, condition, value, events } = clause;
  const Icon = holds ? IconCircleCheck : IconCircleX;
  return (
    <Group gap={6} wrap="nowrap" align="flex-start">
      <Icon
        size={20}
        style={{ flex: 'none' }}
        color={`var(--mantine-color-${holds ? 'teal' : 'red'}-6)`}
        aria-label={holds ? 'holds' : 'does not hold'}
      />
      <div>
        <Text size="sm" fw={600} className="breaks">
          {GROUPS[kind] ?? (condition ? leafInWords(condition as Condition) : kind)}
        </Text>
        {value !== undefined && (
          <Text size="xs" c="dimmed" className="breaks">
            is: {JSON.stringify(value) ?? 'not known'}
          </Text>
        )}
        {events !== undefined && events.length > 0 && (
          <Text size="xs" c="dimmed">
            last: {new Date(events[0]?.occurred_at ?? '').toLocaleString()}
          </Text>
        )}
      </div>
    </Group>
  );
};

const Clauses = ({ clause }: { clause: Clause }) => (
  <li>
    <Line clause={clause} />
    {clause.of !== undefined && (
      <ul style={{ listStyle: 'none', margin: '6px 0 0', paddingLeft: 22 }}>
        {clause.of.map((one, at) => (
          <Clauses key={at} clause={one as Clause} />
        ))}
      </ul>
    )}
  </li>
);

const Answer = ({ projectId, segmentId, profile }: Props & { profile: Profile }) => {
  const { data, isPending, error } = useQuery(explainedIn(projectId, segmentId, profile.id));
  if (isPending) return <Loading />;
  if (!data) return <Failed error={error} />;
  return (
    <Stack gap="sm">
      <Group gap="xs" role="status">
        <Text fw={600}>
          {nameOf(profile)} is {data.is_member ? 'in it' : 'not in it'}.
        </Text>
        {data.is_excluded && (
          <Badge color="grape" variant="light" tt="none">
            only because their address is suppressed
          </Badge>
        )}
        {!data.is_counted && (
          <Badge color="yellow" variant="light" tt="none">
            the past is still being counted
          </Badge>
        )}
      </Group>
      <ul style={{ listStyle: 'none', margin: 0, padding: 0 }}>
        <Clauses clause={data.where} />
      </ul>
    </Stack>
  );
};

type Props = { projectId: string; segmentId: string };
type AskedProps = Props & {
  person: Profile | null;
  onPerson: (person: Profile | null) => void;
};

/** Why somebody is in a segment, or is not: every condition, with what it was asked of. */
export const WhyNot = ({ person, onPerson, ...props }: AskedProps) => (
  <Stack>
    <PersonPicker
      projectId={props.projectId}
      label="Person"
      picked={person}
      onPick={onPerson}
      clearable
    />
    {person !== null && <Answer {...props} profile={person} />}
  </Stack>
);
