import { Alert, Loader, Paper, SimpleGrid, Stack, Switch, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { allIssuesOf } from '../../api.ts';
import { counted } from '../../segment_queries.ts';
import type { Counted, SegmentDefinition } from '../../segment_queries.ts';
import { ConditionTree } from '../condition/condition_tree.tsx';
import type { Condition } from '../condition/shapes.ts';
import { PersonLink } from '../person_link.tsx';
import { Refused } from '../refused.tsx';

const COUNT_AFTER_MS = 400;
const count = new Intl.NumberFormat();

export const NEW_SEGMENT: SegmentDefinition = {
  version: 1,
  include_suppressed: false,
  where: { kind: 'all', of: [{ kind: 'subscribed' }] },
};

const Found = ({ projectId, found }: { projectId: string; found: Counted }) => (
  <Stack gap="xs">
    <Text size="xl" fw={700} className="number" role="status" aria-label="People in it">
      {count.format(found.members)}
    </Text>
    <Text size="sm" c="dimmed">
      {found.is_everybody
        ? `of all ${count.format(found.examined)} people`
        : `of the newest ${count.format(found.examined)} people`}
    </Text>
    {found.sample.length > 0 && (
      <div>
        <Text size="sm" fw={600}>
          Some of them
        </Text>
        {found.sample.map(({ profile_id, person }) => (
          <div key={profile_id}>
            <PersonLink projectId={projectId} person={person} />
          </div>
        ))}
      </div>
    )}
  </Stack>
);

type Props = {
  projectId: string;
  definition: SegmentDefinition;
  onChange: (definition: SegmentDefinition) => void;
};

const PATH = '/definition/where';

/** Who is in a segment, condition by condition, and how many that would be. */
export const Builder = ({ projectId, definition, onChange }: Props) => {
  const [settled] = useDebouncedValue(definition, COUNT_AFTER_MS);
  const look = useQuery(counted(projectId, settled));
  const issues = allIssuesOf(look.error);
  const errorAt = (pointer: string): string | undefined =>
    issues.find(({ path }) => path === pointer || path.startsWith(`${pointer}/`))?.message;
  const whole = issues.filter(({ path }) => path === PATH || path === '/definition');
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg" style={{ alignItems: 'start' }}>
      <Stack gap="sm">
        <ConditionTree
          projectId={projectId}
          condition={definition.where as Condition}
          onChange={(where) =>
            // Without a run, the tree adds only conditions that a segment has.
            onChange({ ...definition, where: where as SegmentDefinition['where'] })
          }
          at={PATH}
          errorAt={errorAt}
        />
        {whole.map(({ message }) => (
          <Alert key={message} color="red" role="alert">
            {message}
          </Alert>
        ))}
        <Switch
          label="People with a suppressed address may be in it, too"
          checked={definition.include_suppressed}
          onChange={(event) =>
            onChange({ ...definition, include_suppressed: event.currentTarget.checked })
          }
        />
      </Stack>
      <Paper withBorder p="md" component="section" aria-label="Live count">
        <Stack gap="xs">
          <Text size="sm" fw={600}>
            Would be in it now{' '}
            {look.isFetching && <Loader size="xs" role="progressbar" aria-label="Counting" />}
          </Text>
          {look.isError && issues.length === 0 && <Refused error={look.error} />}
          {look.isError && issues.length > 0 && (
            <Text size="sm" c="red" role="alert">
              It cannot be counted like this: see what is marked.
            </Text>
          )}
          {!look.isError && look.data && <Found projectId={projectId} found={look.data} />}
        </Stack>
      </Paper>
    </SimpleGrid>
  );
};

/** Whether the server would take it, as far as that is known. */
export const useIsCountable = (projectId: string, definition: SegmentDefinition): boolean => {
  const [settled] = useDebouncedValue(definition, COUNT_AFTER_MS);
  const look = useQuery(counted(projectId, settled));
  return settled === definition && look.isSuccess && !look.isPlaceholderData;
};
