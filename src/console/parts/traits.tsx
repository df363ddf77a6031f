import { Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { origins } from '../link_queries.ts';
import type { TraitOrigin } from '../link_queries.ts';
import { Failed } from './failed.tsx';
import { Loading } from './paged.tsx';
import { inText, Origin } from './told.tsx';

/** What others said of the same trait, which does not count. */
const Others = ({ others }: Pick<TraitOrigin, 'others'>) => {
  if (others.length === 0) return null;
  return (
    <details className="others">
      <summary>
        overrides {others.length} other {others.length === 1 ? 'word' : 'words'}
      </summary>
      <Stack gap={4} mt={4}>
        {others.map((told) => (
          <div key={`${told.identifier.kind}/${told.identifier.value}`}>
            <Text size="sm" className="breaks">
              {inText(told.value)}
            </Text>
            <Origin told={told} />
          </div>
        ))}
      </Stack>
    </details>
  );
};

const Trait = ({ trait: { key, told, others } }: { trait: TraitOrigin }) => (
  <Table.Tr>
    <Table.Th
      scope="row"
      fw={400}
      ff="monospace"
      className="breaks"
      style={{ verticalAlign: 'top' }}
    >
      {key}
    </Table.Th>
    <Table.Td className="breaks">
      <Text
        size="sm"
        fw={500}
        className="breaks"
        {...(told.value === null ? { fs: 'italic' } : {})}
      >
        {told.value === null ? 'removed' : inText(told.value)}
      </Text>
      <Origin told={told} />
      <Others others={others} />
    </Table.Td>
  </Table.Tr>
);

/** What is known of somebody, and of each trait who was told it, by what, and since when it holds. */
export const Traits = ({ projectId, profileId }: { projectId: string; profileId: string }) => {
  const { data, isPending, error } = useQuery(origins(projectId, profileId));
  if (isPending) return <Loading />;
  if (!data) return <Failed error={error} />;
  if (data.items.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        Nothing is known about this person yet: send traits with identify.
      </Text>
    );
  }
  return (
    <Table aria-label="Traits" layout="fixed" verticalSpacing="xs">
      <colgroup>
        <col style={{ width: '38%' }} />
        <col />
      </colgroup>
      <Table.Tbody>
        {data.items.map((trait) => (
          <Trait key={trait.key} trait={trait} />
        ))}
      </Table.Tbody>
    </Table>
  );
};
