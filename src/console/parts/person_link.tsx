import { Anchor, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';

type Person = { profile_id: string; external_id: string | null; email: string | null };

/** Somebody in a list, and the way to their profile; null of who is being erased. */
export const PersonLink = ({ projectId, person }: { projectId: string; person: Person | null }) => {
  if (person === null)
    return (
      <Text size="sm" c="dimmed">
        erased
      </Text>
    );
  const { profile_id: profileId, external_id, email } = person;
  return (
    <Anchor
      size="sm"
      fw={600}
      className="breaks"
      renderRoot={(props) => (
        <Link {...props} to="/p/$projectId/profiles/$profileId" params={{ projectId, profileId }} />
      )}
    >
      {external_id ?? email ?? profileId}
    </Anchor>
  );
};
