import { Badge, Group, Paper, Stack, Tabs, Text, Title } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { DecideRequest } from '../parts/decide_request.tsx';
import { Empty } from '../parts/empty.tsx';
import { Outside } from '../parts/outside.tsx';
import { Paged } from '../parts/paged.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { PlacesOfAdministrators } from '../parts/places_of_administrators.tsx';
import { InvitationLink } from '../parts/shown_once.tsx';
import { When } from '../parts/when.tsx';
import { accessRequests } from '../people_queries.ts';
import type { AccessRequest, RequestStatus } from '../people_queries.ts';

const route = getRouteApi('/signed-in/access-requests');
export const REQUEST_STATUSES: readonly RequestStatus[] = ['waiting', 'approved', 'refused'];
const words: Record<RequestStatus, string> = {
  waiting: 'Waiting',
  approved: 'Let in',
  refused: 'Refused',
};

const Decision = ({ request }: { request: AccessRequest }) =>
  request.decided_at === null ? null : (
    <Group gap={6}>
      <Text size="sm" c="dimmed" className="breaks">
        {request.status === 'approved'
          ? `Let into ${request.project_name ?? 'a project that is gone'}`
          : 'Refused'}
        {request.decided_by === null ? '' : ` by ${request.decided_by}`},
      </Text>
      <When at={request.decided_at} />
    </Group>
  );

type Link = { path: string; email: string };

const One = ({ request, onLink }: { request: AccessRequest; onLink: (link: Link) => void }) => (
  <Paper withBorder p="md" component="li" aria-label={request.email}>
    <Stack gap="sm">
      <Group justify="space-between" align="flex-start">
        <Stack gap={2} className="breaks">
          <Title order={2} size="h5" className="breaks">
            {request.name}
          </Title>
          <Group gap="xs">
            <Text size="sm" className="breaks">
              {request.email}
            </Text>
            {request.is_known && <Badge variant="light">has an account</Badge>}
          </Group>
        </Stack>
        <When at={request.requested_at} />
      </Group>
      <Text size="sm" className="breaks">
        {request.purpose}
      </Text>
      <Decision request={request} />
      {request.status === 'waiting' && <DecideRequest request={request} onApproved={onLink} />}
    </Stack>
  </Paper>
);

const List = ({ status, onLink }: { status: RequestStatus; onLink: (link: Link) => void }) => {
  const list = useInfiniteQuery(accessRequests(status));
  const empty = (
    <Empty title={status === 'waiting' ? 'Nobody waits' : 'Nobody yet'}>
      <span className="breaks">People ask at {location.origin}/console/request-access.</span>
    </Empty>
  );
  return (
    <Paged list={list} empty={empty}>
      {(items) => (
        <Stack component="ul" gap="sm" m={0} p={0}>
          {items.map((request) => (
            <One key={request.id} request={request} onLink={onLink} />
          ))}
        </Stack>
      )}
    </Paged>
  );
};

export const AccessRequestsPage = () => {
  const { status = 'waiting' } = route.useSearch();
  const navigate = route.useNavigate();
  const [link, setLink] = useState<Link | null>(null);
  return (
    <Outside>
      <Stack>
        <PlacesOfAdministrators />
        <PageTitle title="Access requests" note="Who asked to be let in, and who was." />
        {link && <InvitationLink {...link} />}
        <Tabs
          value={status}
          onChange={(chosen) =>
            void navigate({ search: { status: REQUEST_STATUSES.find((one) => one === chosen) } })
          }
          keepMounted={false}
        >
          <Tabs.List mb="md">
            {REQUEST_STATUSES.map((one) => (
              <Tabs.Tab key={one} value={one}>
                {words[one]}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <List status={status} onLink={setLink} />
        </Tabs>
      </Stack>
    </Outside>
  );
};
