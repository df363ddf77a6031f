import { Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import type { UndoPreview } from '../link_queries.ts';
import { AutomationLink } from './object_links.tsx';
import { reasonInWords } from './reasons.ts';
import { Status } from './status.tsx';
import { UndoSide } from './undo_side.tsx';
import { When } from './when.tsx';

/** How many the server names at most. */
const RUNS_TOLD_MAX = 50;

const Count = ({ name, label, value }: { name: string; label: string; value: string }) => (
  <Paper withBorder p={{ base: 'sm', sm: 'md' }}>
    <Text size="sm" c="dimmed">
      {label}
    </Text>
    <Text fz={26} fw={650} className="number" data-number={name}>
      {value}
    </Text>
  </Paper>
);

type Props = { projectId: string; preview: UndoPreview };

const Runs = ({ projectId, preview: { runs, link } }: Props) => {
  if (runs.length === 0) return null;
  const names = { stays: link.external_id, leaves: link.anonymous_id };
  return (
    <Paper withBorder p="md" component="section" aria-label="Runs that go on">
      <Title order={3} size="h5" mb={4}>
        Runs that go on
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        A run stays with the identity that it was started for. A run that ended as merged continues,
        unless an older run of its person remains.
      </Text>
      <Stack component="ul" gap="xs" m={0} p={0} style={{ listStyle: 'none' }}>
        {runs.map((run) => (
          <Group key={run.id} component="li" gap="xs">
            <AutomationLink
              projectId={projectId}
              automationId={run.automation_id}
              fw={600}
              className="breaks"
            >
              {run.automation}
            </AutomationLink>
            <Text size="sm" className="breaks">
              for {names[run.goes_on_for]}
            </Text>
            {run.status === 'paused' && <Status word="Paused" color="gray" />}
            {run.status === 'merged' && <Status word="Ended as merged" color="gray" />}
            <Text size="sm" c="dimmed" component="span">
              since <When at={run.started_at} />
            </Text>
          </Group>
        ))}
      </Stack>
    </Paper>
  );
};

const Stays = ({ suppressions }: Pick<UndoPreview, 'suppressions'>) => (
  <Paper withBorder p="md" component="section" aria-label="What stays">
    <Title order={3} size="h5" mb={4}>
      What stays
    </Title>
    <Stack gap={4}>
      {suppressions.map(({ email, reasons }) => (
        <Text key={email} size="sm" className="breaks">
          <b>{email}</b> stays left alone: {reasons.map(reasonInWords).join(', ')}.
        </Text>
      ))}
      {suppressions.length === 0 && (
        <Text size="sm">No address of either is suppressed, and none becomes so.</Text>
      )}
      <Text size="sm" c="dimmed">
        Suppressions and unsubscribes belong to addresses, and no undo lifts one. Mail that was sent
        stays sent. Segments look at both people anew.
      </Text>
    </Stack>
  </Paper>
);

/** What undoing a link would change, before it does. */
export const Preview = ({ projectId, preview }: Props) => {
  const { stays, leaves, link, restores, events, runs, suppressions } = preview;
  if (!stays || !leaves) return null;
  const counted = events.count.toLocaleString();
  return (
    <Stack>
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing={{ base: 'xs', sm: 'md' }}>
        <Count
          name="leaving"
          label="Identifiers that leave"
          // The others that it joins then are with that person already.
          value={restores ? '1' : leaves.identifiers.length.toLocaleString()}
        />
        <Count
          name="events"
          label="Events that move"
          value={events.is_capped ? `over ${counted}` : counted}
        />
        <Count
          name="traits"
          label="Traits that change"
          value={(stays.traits.length + (restores ? leaves.traits.length : 0)).toLocaleString()}
        />
        <Count
          name="runs"
          label="Runs that go on"
          value={runs.length < RUNS_TOLD_MAX ? String(runs.length) : `${RUNS_TOLD_MAX} or more`}
        />
      </SimpleGrid>
      <UndoSide title={`${link.external_id} keeps`} about="The person of this link." side={stays} />
      {restores ? (
        <UndoSide
          title={`${link.anonymous_id} returns to ${restores.external_id}`}
          about="A browser had linked them before this link replaced that one: it becomes active again."
          side={leaves}
        />
      ) : (
        <UndoSide
          title={`${link.anonymous_id} gets a profile of its own`}
          about="With the traits and events of this identifier alone."
          side={leaves}
        />
      )}
      <Runs projectId={projectId} preview={preview} />
      <Stays suppressions={suppressions} />
    </Stack>
  );
};
