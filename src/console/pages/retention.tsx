import { List, Paper, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Outputs } from '../api.ts';
import { Failed } from '../parts/failed.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { Loading } from '../parts/paged.tsx';
import { RetentionForm } from '../parts/retention_form.tsx';
import { retention } from '../queries.ts';

const route = getRouteApi('/signed-in/p/$projectId/settings/retention');

type Kept = Outputs['retention']['read']['items'][number];

const words: Record<Kept['what'], { title: string; about: string }> = {
  events: {
    title: 'Events and timelines',
    about:
      'By when they occurred, a whole month at a time: a month goes when all of it is older. Older events are refused.',
  },
  content: {
    title: 'What emails said',
    about:
      'Subject, HTML and text, and what the provider answered. Email that waits, or whose outcome is unknown, ' +
      'keeps its own.',
  },
  sends: {
    title: 'Sends, feedback events and what runs decided',
    about:
      'A month at a time. Email that waits stays, and email of runs that go on, or that a frequency cap still counts.',
  },
  message_ids: {
    title: 'Known message ids',
    about: 'As long as their events: for so long a repetition is found out.',
  },
  segment_history: {
    title: 'Who entered and left segments',
    about: 'When somebody last came into a segment, and last left it, stays.',
  },
  runs: {
    title: 'Ended runs and starts of segments',
    about:
      'By their end. A run goes after its emails and what it decided. Its outcome stays in the counts of its ' +
      'automation.',
  },
  refusals: {
    title: 'Refused entries and refused links',
    about: 'As long as the events that they are about.',
  },
  anonymous_people: {
    title: 'Anonymous people without events',
    about:
      'By the last event and the last change. People with an event, a trait of a server, a link, a run, an email ' +
      'or an import stay.',
  },
  counters: {
    title: 'What segments count by day',
    about: 'As long as the longest window of a segment. Counts of the whole past stay.',
  },
  audit_log: { title: 'Audit log', about: 'Nobody can remove an entry earlier.' },
  signed_webhooks: {
    title: 'Ids of signed webhooks',
    about: 'Longer than their signatures count. What they told of a mail stays with it.',
  },
  idempotency_keys: {
    title: 'Idempotency keys, with their answers',
    about: 'For so long a repeated request is answered as the first was.',
  },
  alerts: {
    title: 'Alerts of the past',
    about: 'By when they were resolved. Open alerts stay.',
  },
  webhook_deliveries: {
    title: 'Deliveries to webhook endpoints',
    about: 'By when they ended. They name no person.',
  },
  endpoint_secrets: {
    title: 'The former secret of a webhook endpoint',
    about: 'Calls are signed with both until then.',
  },
};

const Row = ({ kept: { what, value, unit } }: { kept: Kept }) => (
  <Table.Tr>
    <Table.Td>
      <Text size="sm" fw={600}>
        {words[what].title}
      </Text>
      <Text size="sm" c="dimmed">
        {words[what].about}
      </Text>
    </Table.Td>
    <Table.Td ta="right" className="number unbroken">
      {value} {unit}
    </Table.Td>
  </Table.Tr>
);

const Staying = () => (
  <Paper withBorder p="md" component="section" aria-label="What stays">
    <Stack gap="xs">
      <Title order={2} size="h4">
        What stays
      </Title>
      <List size="sm" spacing={6}>
        <List.Item>
          People with an external id, and their traits, stay until they are erased. The same holds
          for which automations they were in, so that “once” stays once.
        </List.Item>
        <List.Item>
          Counts that segments ask for go on after the events they came from are gone.
        </List.Item>
        <List.Item>
          Suppressions and unsubscribes outlive the person. Of whom an erase was asked for, only a
          keyed hash of the address is kept, so that nobody mails it again.
        </List.Item>
        <List.Item>Receipts of erases stay: they hold counts and no personal data.</List.Item>
      </List>
    </Stack>
  </Paper>
);

const Going = ({ projectId }: { projectId: string }) => {
  const { data, isPending, error } = useQuery(retention(projectId));
  if (isPending) return <Loading />;
  if (!data) return <Failed error={error} />;
  return (
    <>
      <RetentionForm
        projectId={projectId}
        settings={data.settings}
        eventMonths={data.items.find(({ what }) => what === 'events')?.value ?? 0}
      />
      <Table verticalSpacing="sm" withTableBorder>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>What goes by itself</Table.Th>
            <Table.Th ta="right">Kept for</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {data.items.map((kept) => (
            <Row key={kept.what} kept={kept} />
          ))}
        </Table.Tbody>
      </Table>
    </>
  );
};

const NOTE =
  'How long what is kept. A project decides for what it sent, runs and anonymous people. The rest is the same for ' +
  'every project.';

export const RetentionPage = () => {
  const { projectId } = route.useParams();
  return (
    <Stack maw={900}>
      <PageTitle title="Retention" note={NOTE} />
      <Going projectId={projectId} />
      <Staying />
    </Stack>
  );
};
