import { Group, Loader, Paper, Stack, Text, Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useLatestEvents } from '../live_queries.ts';
import { Entries } from '../parts/entries.tsx';
import { Failed } from '../parts/failed.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { Loading } from '../parts/paged.tsx';
import { SdkSnippets } from '../parts/sdk_snippets.tsx';

const route = getRouteApi('/signed-in/p/$projectId/settings/sdk');

/** Whether something arrives: told as it does, so that nobody has to reload. */
const Arrival = ({ projectId }: { projectId: string }) => {
  const { data, isPending, error } = useLatestEvents(projectId, true);
  if (isPending) return <Loading />;
  if (!data) return <Failed error={error} />;
  const [latest] = data.items;
  return (
    <Stack gap="sm" role="status" aria-label="Arrival">
      <Title order={2} size="h3">
        {latest ? 'Events arrive' : 'Try it'}
      </Title>
      {latest ? (
        <>
          <Text size="sm" c="dimmed">
            This is the last one. The next takes its place by itself.
          </Text>
          <Entries entries={[latest]} projectId={projectId} />
        </>
      ) : (
        <Paper withBorder p="md">
          <Group gap="sm" wrap="nowrap">
            <Loader size="sm" aria-hidden />
            <div>
              <Text fw={600}>Waiting for your first event…</Text>
              <Text size="sm" c="dimmed">
                Open a page with the text above, or run it. The event appears here.
              </Text>
            </div>
          </Group>
        </Paper>
      )}
    </Stack>
  );
};

export const SdkPage = () => {
  const { projectId } = route.useParams();
  return (
    <Stack maw={900} gap="lg">
      <PageTitle
        title="SDK snippet"
        note="What to put into your pages and servers, to send events."
      />
      <SdkSnippets projectId={projectId} />
      <Arrival projectId={projectId} />
    </Stack>
  );
};
