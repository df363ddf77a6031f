import { Group, Select, Stack, TextInput } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { AuditList, Done } from '../parts/audit_list.tsx';
import { auditWords } from '../parts/audit_words.ts';
import { fromDay, untilDay } from '../parts/days.ts';
import { Empty } from '../parts/empty.tsx';
import { ForRole } from '../parts/for_role.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { Paged } from '../parts/paged.tsx';
import { audit, keys, members } from '../people_queries.ts';

const route = getRouteApi('/signed-in/p/$projectId/settings/audit');
const FIELD_WIDTH = { base: '100%', sm: 220 };

/** What the address of the page holds: days are days of the reader. */
export type AuditSearch = {
  who?: string | undefined;
  what?: string | undefined;
  from?: string | undefined;
  until?: string | undefined;
};

type Props = { projectId: string; search: AuditSearch; onSearch: (search: AuditSearch) => void };

const useActors = (projectId: string) => {
  const { data: everybody } = useQuery(members(projectId));
  const { data: allKeys } = useQuery(keys(projectId));
  return [
    ...(everybody?.items ?? []).map(({ id, email }) => ({ value: id, label: email })),
    ...(allKeys?.items ?? []).map(({ id, kind, last_four }) => ({
      value: id,
      label: `${kind} key …${last_four}`,
    })),
  ];
};

/** What was done at all, in the order of its words: the same may be done here and through the API. */
const toOptions = (actions: readonly string[]) =>
  actions
    .map((value) => ({ value, label: auditWords(value) }))
    .toSorted((left, right) => left.label.localeCompare(right.label));

const Filter = ({ projectId, search, onSearch, actions }: Props & { actions: string[] }) => (
  <Group align="flex-end" gap="sm">
    <Select
      label="Who"
      placeholder="Everybody"
      w={FIELD_WIDTH}
      data={useActors(projectId)}
      value={search.who ?? null}
      onChange={(who) => onSearch({ ...search, who: who ?? undefined })}
      searchable
      clearable
    />
    <Select
      label="What"
      placeholder="Everything"
      w={FIELD_WIDTH}
      data={toOptions(actions)}
      renderOption={({ option }) => <Done name={option.value} />}
      value={search.what ?? null}
      onChange={(what) => onSearch({ ...search, what: what ?? undefined })}
      searchable
      clearable
    />
    <TextInput
      label="From"
      type="date"
      w={FIELD_WIDTH}
      value={search.from ?? ''}
      onChange={({ currentTarget: { value } }) => onSearch({ ...search, from: value || undefined })}
    />
    <TextInput
      label="Until"
      type="date"
      w={FIELD_WIDTH}
      value={search.until ?? ''}
      onChange={({ currentTarget: { value } }) =>
        onSearch({ ...search, until: value || undefined })
      }
    />
  </Group>
);

const Log = ({ projectId, search, onSearch }: Props) => {
  const list = useInfiniteQuery(
    audit(projectId, {
      actorId: search.who,
      action: search.what,
      from: fromDay(search.from),
      until: untilDay(search.until),
    }),
  );
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  const empty = isFiltered ? (
    <Empty title="No change matches">Choose somebody else or another time.</Empty>
  ) : (
    <Empty title="Nothing was changed yet">
      Whatever somebody changes here, or a server key through the API, is listed with who it was.
    </Empty>
  );
  return (
    <>
      <Filter
        projectId={projectId}
        search={search}
        onSearch={onSearch}
        actions={list.data?.pages[0]?.actions ?? []}
      />
      <Paged list={list} empty={empty}>
        {(items) => <AuditList items={items} />}
      </Paged>
    </>
  );
};

export const AuditPage = () => {
  const { projectId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Stack>
      <PageTitle title="Audit log" note="Who changed what. Entries stay for two years." />
      <ForRole projectId={projectId} role="owner" to="who changed what">
        <Log
          projectId={projectId}
          search={search}
          onSearch={(next) => void navigate({ search: next, replace: true })}
        />
      </ForRole>
    </Stack>
  );
};
