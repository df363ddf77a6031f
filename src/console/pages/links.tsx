import { Button, Code, Group, Select, Stack, TextInput } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { SubmitEvent } from 'react';
import { links } from '../link_queries.ts';
import type { IdentityLink } from '../link_queries.ts';
import { fromDay, untilDay } from '../parts/days.ts';
import { Empty } from '../parts/empty.tsx';
import { fieldOf } from '../parts/form.ts';
import { LinkList } from '../parts/link_list.tsx';
import { LINK_SOURCES, LINK_STATUSES, linkSources, linkStates } from '../parts/link_words.ts';
import { PageTitle } from '../parts/page_title.tsx';
import { Paged } from '../parts/paged.tsx';

const route = getRouteApi('/signed-in/p/$projectId/links');
const FIELD_WIDTH = { base: '100%', xs: 'calc(50% - 6px)', md: 150 };

/** What the address of the page holds: days are days of the reader. */
export type LinkSearch = {
  identifier?: string | undefined;
  status?: IdentityLink['status'] | undefined;
  source?: IdentityLink['source'] | undefined;
  from?: string | undefined;
  until?: string | undefined;
};

type Props = { search: LinkSearch; onSearch: (search: LinkSearch) => void };

const ByIdentifier = ({ search, onSearch }: Props) => {
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    onSearch({
      ...search,
      identifier: fieldOf(event.currentTarget, 'identifier').trim() || undefined,
    });
  };
  return (
    <form role="search" onSubmit={submit} style={{ flex: '1 1 280px' }}>
      <Group align="flex-end" gap="sm" wrap="nowrap">
        <TextInput
          key={search.identifier ?? ''}
          name="identifier"
          type="search"
          label="Anonymous id or external id"
          placeholder="ann"
          defaultValue={search.identifier ?? ''}
          flex={1}
          miw={0}
        />
        <Button type="submit" variant="default">
          Search
        </Button>
      </Group>
    </form>
  );
};

const Choices = ({ search, onSearch }: Props) => (
  <>
    <Select
      label="State"
      placeholder="Any"
      w={FIELD_WIDTH}
      data={LINK_STATUSES.map((value) => ({ value, label: linkStates[value].word }))}
      value={search.status ?? null}
      onChange={(status) => onSearch({ ...search, status: status ?? undefined })}
      clearable
    />
    <Select
      label="Asked by"
      placeholder="Anybody"
      w={FIELD_WIDTH}
      data={LINK_SOURCES.map((value) => ({ value, label: linkSources[value] }))}
      value={search.source ?? null}
      onChange={(source) => onSearch({ ...search, source: source ?? undefined })}
      clearable
    />
    {(['from', 'until'] as const).map((name) => (
      <TextInput
        key={name}
        label={name === 'from' ? 'From' : 'Until'}
        type="date"
        w={FIELD_WIDTH}
        value={search[name] ?? ''}
        onChange={({ currentTarget: { value } }) =>
          onSearch({ ...search, [name]: value || undefined })
        }
      />
    ))}
  </>
);

const Log = ({ projectId, search }: { projectId: string; search: LinkSearch }) => {
  const { from, until, ...rest } = search;
  const list = useInfiniteQuery(
    links(projectId, { ...rest, from: fromDay(from), until: untilDay(until) }),
  );
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  const empty = isFiltered ? (
    <Empty title="No link matches">
      Identifiers must be complete, as your events say them. Or choose another state or time.
    </Empty>
  ) : (
    <Empty title="Nobody was linked yet">
      A link says whose an anonymous id is. Have your page call <Code>identify</Code> when somebody
      signs in, or your server call <Code>POST /v1/identify/alias</Code>: the link appears here, and
      can be undone.
    </Empty>
  );
  return (
    <Paged list={list} empty={empty}>
      {(items) => <LinkList projectId={projectId} items={items} />}
    </Paged>
  );
};

export const LinksPage = () => {
  const { projectId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const onSearch = (next: LinkSearch) => void navigate({ search: next, replace: true });
  return (
    <Stack>
      <PageTitle
        title="Identity links"
        note="Which anonymous ids were found to be whose. A link that was wrong can be undone."
      />
      <Group align="flex-end" gap="sm">
        <ByIdentifier search={search} onSearch={onSearch} />
        <Choices search={search} onSearch={onSearch} />
      </Group>
      <Log projectId={projectId} search={search} />
    </Stack>
  );
};
