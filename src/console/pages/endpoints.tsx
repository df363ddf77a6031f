import { Paper, Stack, Text, Title } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { api } from '../api.ts';
import { endpoints } from '../automation_queries.ts';
import { useChange } from '../changes.ts';
import { Empty } from '../parts/empty.tsx';
import { EndpointCard, READ_ANEW } from '../parts/endpoint_card.tsx';
import { EndpointForm } from '../parts/endpoint_form.tsx';
import type { TypedEndpoint } from '../parts/endpoint_form.tsx';
import { ForRole } from '../parts/for_role.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { Paged } from '../parts/paged.tsx';
import { ShownOnce } from '../parts/shown_once.tsx';

const route = getRouteApi('/signed-in/p/$projectId/settings/endpoints');

const Add = ({ projectId }: { projectId: string }) => {
  const add = useChange(projectId, READ_ANEW, (endpoint: TypedEndpoint) =>
    api.endpoints.add.mutate({ projectId, endpoint }),
  );
  return (
    <Paper withBorder p="md" component="section" aria-label="Add an endpoint">
      <Stack gap="sm">
        <Title order={2} size="h4">
          Add an endpoint
        </Title>
        <EndpointForm label="Add" change={add} />
        <Text size="sm" c="dimmed">
          Calls are signed by the Standard Webhooks scheme, with a secret that is shown once.
        </Text>
        {add.data && (
          <ShownOnce
            title="Copy the secret now: it is shown this once"
            value={add.data.secret}
            what="the secret"
            about={`Of ${add.data.endpoint.name}.`}
          />
        )}
      </Stack>
    </Paper>
  );
};

export const EndpointsPage = () => {
  const { projectId } = route.useParams();
  const list = useInfiniteQuery(endpoints(projectId));
  const none = (
    <Empty title="No endpoint yet">
      Trunkline posts webhooks to your services: from webhook steps of automations, and for events
      that an endpoint subscribes to. Add the address of a service.
    </Empty>
  );
  return (
    <Stack maw={900}>
      <PageTitle
        title="Webhook endpoints"
        note="Services that webhook steps call, and that subscribe to events and alerts."
      />
      <ForRole projectId={projectId} role="editor" to="to add an endpoint">
        <Add projectId={projectId} />
      </ForRole>
      <Paged list={list} empty={none}>
        {(items) => (
          <Stack component="ul" gap="sm" m={0} p={0}>
            {items.map((endpoint) => (
              <EndpointCard key={endpoint.id} projectId={projectId} endpoint={endpoint} />
            ))}
          </Stack>
        )}
      </Paged>
    </Stack>
  );
};
