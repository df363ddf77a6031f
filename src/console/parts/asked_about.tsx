import { Alert, Anchor, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Profile } from '../api.ts';
import { profile } from '../queries.ts';
import { nameOf } from './profile_name.ts';

/** Whom the address of a page asks about; null of nobody, or of somebody who is not there. */
export const useAskedAbout = (projectId: string, personId: string | undefined): Profile | null => {
  const { data } = useQuery({
    ...profile(projectId, personId ?? ''),
    enabled: personId !== undefined,
  });
  return personId === undefined ? null : (data ?? null);
};

/** The way back to whom one came from. */
export const BackToPerson = ({ projectId, person }: { projectId: string; person: Profile }) => (
  <Anchor
    size="sm"
    className="breaks"
    renderRoot={(props) => (
      <Link
        {...props}
        to="/p/$projectId/profiles/$profileId"
        params={{ projectId, profileId: person.id }}
      />
    )}
  >
    ← {nameOf(person)}
  </Anchor>
);

type Props = {
  projectId: string;
  person: Profile | null;
  /** What follows, as in "to see why they are in it, or not". */
  to: string;
};

/** Above a list: about whom each of its pages will tell. */
export const AskedAbout = ({ projectId, person, to }: Props) =>
  person && (
    <Alert color="blue" variant="light" p="xs">
      <Group gap="md">
        <BackToPerson projectId={projectId} person={person} />
        <span>Choose one {to}.</span>
      </Group>
    </Alert>
  );
