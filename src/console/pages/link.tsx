import { Alert, Anchor, Group, Paper, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api, isNotFound } from '../api.ts';
import type { Profile } from '../api.ts';
import { useChange } from '../changes.ts';
import { link, undoPreview } from '../link_queries.ts';
import type { IdentityLink, UndoPreview } from '../link_queries.ts';
import { Back } from '../parts/back.tsx';
import { Empty } from '../parts/empty.tsx';
import { Failed } from '../parts/failed.tsx';
import { ForRole } from '../parts/for_role.tsx';
import { askedBy, linkSources, linkStates, refusals, undoneBy } from '../parts/link_words.ts';
import { Loading } from '../parts/paged.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { nameOf } from '../parts/profile_name.ts';
import { Status } from '../parts/status.tsx';
import { UndoButton } from '../parts/undo_link.tsx';
import { Preview } from '../parts/undo_preview.tsx';
import { When } from '../parts/when.tsx';

const route = getRouteApi('/signed-in/p/$projectId/links/$linkId');
const READ_ANEW = ['links', 'profile', 'timeline', 'origins', 'found', 'newest', 'audit'];

const Line = ({ name, children }: { name: string; children: ReactNode }) => (
  <Table.Tr>
    <Table.Th scope="row" fw={400} c="dimmed">
      {name}
    </Table.Th>
    <Table.Td className="breaks">{children}</Table.Td>
  </Table.Tr>
);

type Related = { projectId: string; linkId: string; children: ReactNode };

const ToLink = ({ projectId, linkId, children }: Related) => (
  <Anchor
    size="sm"
    renderRoot={(props) => (
      <Link {...props} to="/p/$projectId/links/$linkId" params={{ projectId, linkId }} />
    )}
  >
    {children}
  </Anchor>
);

/** The link that this one took the place of, or that took its place. */
const InPlace = ({ projectId, item }: { projectId: string; item: IdentityLink }) => (
  <>
    {item.confirmed_at !== null && (
      <Line name="Confirmed">
        <When at={item.confirmed_at} /> by a server
      </Line>
    )}
    {item.replaces !== null && (
      <Line name="Replaces">
        <ToLink projectId={projectId} linkId={item.replaces}>
          the link that a browser had made
        </ToLink>
      </Line>
    )}
    {item.replaced_by !== null && (
      <Line name="Replaced by">
        <ToLink projectId={projectId} linkId={item.replaced_by}>
          the link of a server
        </ToLink>
        . Undo that one, and this one is active again.
      </Line>
    )}
  </>
);

const Facts = ({ projectId, item }: { projectId: string; item: IdentityLink }) => (
  <Paper withBorder p="md">
    <Table>
      <Table.Tbody>
        <Line name="Anonymous id">{item.anonymous_id}</Line>
        <Line name="External id">{item.external_id}</Line>
        <Line name="Asked for by">
          {linkSources[item.source]}, from {askedBy(item)}
        </Line>
        <Line name={item.status === 'refused' ? 'Refused' : 'Linked'}>
          <When at={item.created_at} />
        </Line>
        {item.undone_at !== null && (
          <Line name="Undone">
            <When at={item.undone_at} /> {undoneBy(item.undone_by ?? '')}
          </Line>
        )}
        <InPlace projectId={projectId} item={item} />
      </Table.Tbody>
    </Table>
  </Paper>
);

const Person = ({ projectId, person }: { projectId: string; person: Profile }) => (
  <Paper withBorder p="md" component="section" aria-label={nameOf(person)}>
    <Anchor
      fw={600}
      className="breaks"
      renderRoot={(props) => (
        <Link
          {...props}
          to="/p/$projectId/profiles/$profileId"
          params={{ projectId, profileId: person.id }}
        />
      )}
    >
      {nameOf(person)}
    </Anchor>
    <Text size="sm" c="dimmed" className="breaks">
      {person.email ?? 'no e-mail address'} · {person.identifiers.length}{' '}
      {person.identifiers.length === 1 ? 'identifier' : 'identifiers'} ·{' '}
      {Object.keys(person.traits).length}{' '}
      {Object.keys(person.traits).length === 1 ? 'trait' : 'traits'}
    </Text>
  </Paper>
);

/** Who is on either side, once each: while they are linked, both are the same person. */
const People = ({ projectId, profiles }: { projectId: string; profiles: Profile[] }) => {
  const people = [...new Map(profiles.map((one) => [one.id, one])).values()];
  if (people.length === 0) return <Text size="sm">Both were erased.</Text>;
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      {people.map((one) => (
        <Person key={one.id} projectId={projectId} person={one} />
      ))}
    </SimpleGrid>
  );
};

type Props = { projectId: string; linkId: string };

const WhatIf = ({ projectId, linkId }: Props) => {
  const { data, isPending, error } = useQuery(undoPreview(projectId, linkId));
  if (isPending) return <Loading />;
  if (!data) return <Failed error={error} />;
  return <Preview projectId={projectId} preview={data} />;
};

const Undone = ({ item, restores }: Pick<UndoPreview, 'restores'> & { item: IdentityLink }) => (
  <Alert color="teal" role="status" title="The link is undone">
    {restores
      ? `${item.anonymous_id} belongs to ${restores.external_id} again.`
      : 'Both people now have what they would have without it.'}
  </Alert>
);

/** What there is to do is said before what comes later and may be long: it stays where somebody saw it. */
const Known = ({
  projectId,
  linkId,
  item,
  profiles,
}: Props & { item: IdentityLink; profiles: Profile[] }) => {
  const undo = useChange(projectId, READ_ANEW, async () => {
    // What is said here afterwards is what was so a moment before.
    const preview = await api.links.preview.query({ projectId, linkId });
    await api.links.undo.mutate({ projectId, linkId });
    return preview;
  });
  return (
    <Stack gap="lg">
      <Stack gap="xs">
        <PageTitle
          title={`${item.anonymous_id} ${item.status === 'active' ? 'is' : 'and'} ${item.external_id}`}
        />
        <Group>
          <Status {...linkStates[item.status]} />
        </Group>
      </Stack>
      {undo.data && <Undone item={item} restores={undo.data.restores} />}
      {item.reason && <Alert color="orange">{refusals[item.reason]}</Alert>}
      <Facts projectId={projectId} item={item} />
      <Stack gap="sm">
        <Title order={2} size="h3">
          {item.status === 'active' ? 'The person' : 'The people'}
        </Title>
        <People projectId={projectId} profiles={profiles} />
      </Stack>
      {undo.data && (
        <Stack gap="sm">
          <Title order={2} size="h3">
            What was undone
          </Title>
          <Preview projectId={projectId} preview={undo.data} />
        </Stack>
      )}
      {item.status === 'active' && (
        <Stack gap="sm">
          <Title order={2} size="h3">
            If you undo it
          </Title>
          <ForRole projectId={projectId} role="editor" to="to undo it">
            <UndoButton
              isPending={undo.isPending}
              error={undo.error}
              onUndo={() => undo.mutate(undefined)}
            />
          </ForRole>
          <WhatIf projectId={projectId} linkId={linkId} />
        </Stack>
      )}
    </Stack>
  );
};

export const LinkPage = () => {
  const { projectId, linkId } = route.useParams();
  const { data, isPending, error } = useQuery(link(projectId, linkId));
  return (
    <Stack maw={1000}>
      <Back to="/p/$projectId/links" projectId={projectId} label="Identity links" />
      {isPending && <Loading />}
      {isNotFound(error) && (
        <Empty isPage title="There is no such link">
          It may have gone with somebody who was erased. Look for it in the log.
        </Empty>
      )}
      {error !== null && !isNotFound(error) && !data && <Failed error={error} />}
      {data && (
        <Known projectId={projectId} linkId={linkId} item={data.link} profiles={data.profiles} />
      )}
    </Stack>
  );
};
