import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { api } from '../api.ts';
import { useChange } from '../changes.ts';
import { Empty } from '../parts/empty.tsx';
import { Failed } from '../parts/failed.tsx';
import { ForRole } from '../parts/for_role.tsx';
import { InviteForm } from '../parts/invite_form.tsx';
import { MemberList } from '../parts/member_list.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { Loading } from '../parts/paged.tsx';
import { Refused } from '../parts/refused.tsx';
import { When } from '../parts/when.tsx';
import { invitations, isAtLeast, members, useRole } from '../people_queries.ts';
import type { Invitation } from '../people_queries.ts';

const route = getRouteApi('/signed-in/p/$projectId/settings/members');

const Invited = ({ projectId, invitation }: { projectId: string; invitation: Invitation }) => {
  const revoke = useChange(projectId, ['invitations', 'audit'], () =>
    api.invitations.revoke.mutate({ projectId, invitationId: invitation.id }),
  );
  return (
    <Group justify="space-between" component="li" gap="xs">
      <Stack gap={2} className="breaks">
        <Text className="breaks">{invitation.email}</Text>
        <Group gap={6}>
          <Text size="sm" c="dimmed">
            as {invitation.role}, until
          </Text>
          <When at={invitation.expires_at} />
        </Group>
      </Stack>
      <Button
        size="xs"
        variant="default"
        loading={revoke.isPending}
        onClick={() => revoke.mutate(undefined)}
        aria-label={`Take back the invitation of ${invitation.email}`}
      >
        Take back
      </Button>
      <Refused error={revoke.error} />
    </Group>
  );
};

const Invitations = ({ projectId }: { projectId: string }) => {
  const isOwner = isAtLeast(useRole(projectId), 'owner');
  const { data, error } = useQuery({ ...invitations(projectId), enabled: isOwner });
  return (
    <Paper withBorder p="md" component="section" aria-label="Invitations">
      <Stack>
        <Title order={2} size="h4">
          Invite somebody
        </Title>
        <ForRole projectId={projectId} role="owner" to="to invite somebody">
          <InviteForm projectId={projectId} />
        </ForRole>
        {error !== null && !data && <Failed error={error} />}
        {data && data.items.length > 0 && (
          <Stack gap="sm">
            <Title order={3} size="h5">
              Not used yet
            </Title>
            <Stack component="ul" gap="sm" m={0} p={0}>
              {data.items.map((one) => (
                <Invited key={one.id} projectId={projectId} invitation={one} />
              ))}
            </Stack>
          </Stack>
        )}
      </Stack>
    </Paper>
  );
};

export const MembersPage = () => {
  const { projectId } = route.useParams();
  const { data, isPending, error } = useQuery(members(projectId));
  return (
    <Stack maw={900}>
      <PageTitle
        title="Members"
        note="Who is in this project. Administrators of the installation see every project, and are not listed."
      />
      {isPending && <Loading />}
      {error !== null && !data && <Failed error={error} />}
      {data?.items.length === 0 && (
        <Empty title="Nobody is a member yet">Invite the first owner.</Empty>
      )}
      {data && <MemberList projectId={projectId} items={data.items} />}
      <Invitations projectId={projectId} />
    </Stack>
  );
};
