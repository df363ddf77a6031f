import {
  Anchor,
  Badge,
  Button,
  Group,
  Paper,
  SimpleGrid,
  Stack,
  Table,
  Text,
  Title,
} from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { isNotFound } from '../api.ts';
import type { Profile } from '../api.ts';
import { Empty } from '../parts/empty.tsx';
import { Entries } from '../parts/entries.tsx';
import { Failed } from '../parts/failed.tsx';
import { Loading, Paged } from '../parts/paged.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { nameOf } from '../parts/profile_name.ts';
import { Status } from '../parts/status.tsx';
import { inWords } from '../parts/statuses.ts';
import { Traits } from '../parts/traits.tsx';
import { When } from '../parts/when.tsx';
import { profile, timeline } from '../queries.ts';

const route = getRouteApi('/signed-in/p/$projectId/profiles/$profileId');

const Card = ({ title, children }: { title: string; children: ReactNode }) => (
  <Paper withBorder p="md" component="section">
    <Title order={2} size="h5" mb="xs">
      {title}
    </Title>
    {children}
  </Paper>
);

type IdentifiersProps = Pick<Profile, 'identifiers'> & { projectId: string };

/** So many identifiers are shown before somebody asks for the rest. */
const IDENTIFIERS_FIRST = 10;

/** Every identifier leads to the links that it took part in. */
const IdentifierTable = ({ identifiers, projectId }: IdentifiersProps) => (
  <Table aria-label="Identifiers">
    <Table.Tbody>
      {identifiers.map(({ kind, value, first_seen_at }) => (
        <Table.Tr key={`${kind}/${value}`}>
          <Table.Td>
            <Anchor
              size="sm"
              fw={600}
              className="breaks"
              title="The links of this identifier"
              renderRoot={(props) => (
                <Link
                  {...props}
                  to="/p/$projectId/links"
                  params={{ projectId }}
                  search={{ identifier: value }}
                />
              )}
            >
              {value}
            </Anchor>
            <Text size="sm" c="dimmed">
              {kind} id
            </Text>
          </Table.Td>
          <Table.Td ta="right">
            <Text size="sm" c="dimmed">
              since
            </Text>
            <When at={first_seen_at} />
          </Table.Td>
        </Table.Tr>
      ))}
    </Table.Tbody>
  </Table>
);

/** What others call somebody before what their devices do, each from the first on. */
const inOrder = (identifiers: Profile['identifiers']) =>
  identifiers.toSorted(
    (left, right) =>
      right.kind.localeCompare(left.kind) || left.first_seen_at.localeCompare(right.first_seen_at),
  );

const Identifiers = ({ identifiers, projectId }: IdentifiersProps) => {
  const [isWhole, setIsWhole] = useState(identifiers.length <= IDENTIFIERS_FIRST);
  const shown = inOrder(identifiers).slice(0, isWhole ? undefined : IDENTIFIERS_FIRST);
  return (
    <Stack gap="sm">
      <IdentifierTable identifiers={shown} projectId={projectId} />
      {!isWhole && (
        <Button size="xs" variant="default" w="fit-content" onClick={() => setIsWhole(true)}>
          Show all {identifiers.length.toLocaleString()}
        </Button>
      )}
    </Stack>
  );
};

const AddressWays = ({ email, projectId }: { email: string; projectId: string }) => (
  <>
    <Anchor
      size="sm"
      renderRoot={(props) => (
        <Link {...props} to="/p/$projectId/sends" params={{ projectId }} search={{ email }} />
      )}
    >
      Mail to this address
    </Anchor>
    <Anchor
      size="sm"
      renderRoot={(props) => (
        <Link {...props} to="/p/$projectId/suppressions/$email" params={{ projectId, email }} />
      )}
    >
      How this address stands
    </Anchor>
  </>
);

type WhyProps = {
  personId: string;
  projectId: string;
  to: '/p/$projectId/segments' | '/p/$projectId/automations';
  children: string;
};

/** The way to a list that says why, of this person. */
const Why = ({ personId, projectId, to, children }: WhyProps) => (
  <Anchor
    size="sm"
    renderRoot={(props) => (
      <Link {...props} to={to} params={{ projectId }} search={{ person: personId }} />
    )}
  >
    {children}
  </Anchor>
);

/** Where else this person is told of. */
const Ways = ({ person, projectId }: { person: Profile; projectId: string }) => (
  <Group gap="md">
    <Anchor
      size="sm"
      renderRoot={(props) => (
        <Link
          {...props}
          to="/p/$projectId/links"
          params={{ projectId }}
          search={{ identifier: person.identifiers[0]?.value }}
        />
      )}
    >
      Identity links
    </Anchor>
    <Why personId={person.id} projectId={projectId} to="/p/$projectId/segments">
      Why in a segment, or not
    </Why>
    <Why personId={person.id} projectId={projectId} to="/p/$projectId/automations">
      Why a mail came, or not
    </Why>
    {person.email !== null && <AddressWays email={person.email} projectId={projectId} />}
  </Group>
);

const stateOf = ({ suppressed, email }: Profile) => {
  if (suppressed) return { word: 'Suppressed: gets no mail', color: 'grape' };
  if (email === null) return { word: 'No e-mail address', color: 'gray' };
  return { word: 'May be mailed', color: 'green' };
};

const State = ({ person }: { person: Profile }) => (
  <Group gap="xs">
    <Status {...stateOf(person)} />
    {person.tags.map((tag) => (
      <Badge key={tag} variant="default">
        {inWords(tag)}
      </Badge>
    ))}
  </Group>
);

const Timeline = ({ projectId, profileId }: { projectId: string; profileId: string }) => {
  const list = useInfiniteQuery(timeline(projectId, profileId));
  return (
    <Paged list={list} empty={<Empty title="No events">This person’s events appear here.</Empty>}>
      {(entries) => <Entries entries={entries} projectId={projectId} withWho={false} />}
    </Paged>
  );
};

const Known = ({ person, projectId }: { person: Profile; projectId: string }) => (
  <Stack>
    <Stack gap="xs">
      <PageTitle title={nameOf(person)} note={person.email ?? 'no e-mail address'} />
      <State person={person} />
      <Ways person={person} projectId={projectId} />
    </Stack>
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Card title="Identifiers">
        <Identifiers identifiers={person.identifiers} projectId={projectId} />
      </Card>
      <Card title="Traits">
        <Traits projectId={projectId} profileId={person.id} />
      </Card>
    </SimpleGrid>
    <Title order={2} size="h3">
      Timeline
    </Title>
    <Timeline projectId={projectId} profileId={person.id} />
  </Stack>
);

export const ProfilePage = () => {
  const { projectId, profileId } = route.useParams();
  const { data, isPending, error } = useQuery(profile(projectId, profileId));
  return (
    <Stack>
      <Anchor
        size="sm"
        renderRoot={(props) => (
          <Link {...props} to="/p/$projectId/profiles" params={{ projectId }} />
        )}
      >
        ← Profiles
      </Anchor>
      {isPending && <Loading />}
      {isNotFound(error) && (
        <Empty isPage title="There is no such profile">
          It may have been erased. Search for it again.
        </Empty>
      )}
      {error !== null && !isNotFound(error) && !data && <Failed error={error} />}
      {data && <Known person={data} projectId={projectId} />}
    </Stack>
  );
};
