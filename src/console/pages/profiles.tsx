import { Anchor, Button, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { SubmitEvent } from 'react';
import type { Profile } from '../api.ts';
import { Empty } from '../parts/empty.tsx';
import { Failed } from '../parts/failed.tsx';
import { fieldOf } from '../parts/form.ts';
import { Loading, Paged } from '../parts/paged.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { nameOf } from '../parts/profile_name.ts';
import { Status } from '../parts/status.tsx';
import { When } from '../parts/when.tsx';
import { foundProfiles, newestProfiles } from '../queries.ts';

const route = getRouteApi('/signed-in/p/$projectId/profiles');

const Search = ({ query, onSearch }: { query: string; onSearch: (query: string) => void }) => {
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    onSearch(fieldOf(event.currentTarget, 'query').trim());
  };
  return (
    <form role="search" onSubmit={submit}>
      <Group align="flex-end" gap="sm" wrap="nowrap">
        <TextInput
          key={query}
          name="query"
          type="search"
          label="External id, anonymous id, e-mail address or profile id"
          defaultValue={query}
          flex={1}
          autoFocus
        />
        <Button type="submit">Search</Button>
      </Group>
    </form>
  );
};

type HitProps = { profile: Profile; projectId: string; withSince?: boolean };

const Hit = ({ profile, projectId, withSince = false }: HitProps) => (
  <Paper withBorder p="md">
    <Group justify="space-between">
      <Stack gap={2} className="breaks">
        <Anchor
          fw={600}
          className="breaks"
          renderRoot={(props) => (
            <Link
              {...props}
              to="/p/$projectId/profiles/$profileId"
              params={{ projectId, profileId: profile.id }}
            />
          )}
        >
          {nameOf(profile)}
        </Anchor>
        <Text size="sm" c="dimmed" className="breaks">
          {profile.email ?? 'no e-mail address'}
        </Text>
      </Stack>
      <Group gap="md">
        {profile.suppressed && <Status word="Suppressed" color="grape" />}
        {withSince && (
          <Group gap={6}>
            <Text size="sm" c="dimmed">
              Since
            </Text>
            <When at={profile.first_seen_at} />
          </Group>
        )}
      </Group>
    </Group>
  </Paper>
);

const Found = ({ projectId, query }: { projectId: string; query: string }) => {
  const { data, isPending, error } = useQuery(foundProfiles(projectId, query));
  if (isPending) return <Loading />;
  if (!data) return <Failed error={error} />;
  if (data.items.length === 0) {
    return (
      <Empty title="Nobody by that name">
        Identifiers and addresses must be complete. A profile appears with its first event.
      </Empty>
    );
  }
  return data.items.map((one) => <Hit key={one.id} profile={one} projectId={projectId} />);
};

/** Whoever came last, for those who do not know yet whom to look for. */
const Newest = ({ projectId }: { projectId: string }) => {
  const list = useInfiniteQuery(newestProfiles(projectId));
  const empty = (
    <Empty title="Find a person">
      Search for what your events call them, such as the <i>external_id</i> that you send.
    </Empty>
  );
  return (
    <Paged list={list} empty={empty}>
      {(items) => (
        <Stack component="section" aria-labelledby="newest">
          <Title order={2} size="h4" id="newest">
            Newest people
          </Title>
          {items.map((one) => (
            <Hit key={one.id} profile={one} projectId={projectId} withSince />
          ))}
        </Stack>
      )}
    </Paged>
  );
};

export const ProfilesPage = () => {
  const { projectId } = route.useParams();
  const { query = '' } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Stack>
      <PageTitle title="Profiles" />
      <Search
        query={query}
        onSearch={(text) => void navigate({ search: { query: text === '' ? undefined : text } })}
      />
      {query === '' ? (
        <Newest projectId={projectId} />
      ) : (
        <Found projectId={projectId} query={query} />
      )}
    </Stack>
  );
};
