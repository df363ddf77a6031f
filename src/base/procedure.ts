import { initTRPC, TRPCError } from '@trpc/server';
import type { TRPC_ERROR_CODE_KEY } from '@trpc/server/rpc';
import { z } from 'zod';
import { listTargets, withAudit, withoutAudit } from './audit.ts';
import { toDatabaseRefusal } from './database_errors.ts';
import type { Deps } from './deps.ts';
import { listUnstorable, toIssues } from './parse.ts';
import { Refusal, refusals } from './refusal.ts';
import type { RefusalName } from './refusal.ts';
import { untilOver } from './until_over.ts';

/** Who works in the Console. */
export type Person = { person_id: string; email: string; is_admin: boolean };

/** What a member of a project may do, the least first. */
export const MEMBER_ROLES = ['viewer', 'editor', 'owner'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** Whom a procedure is for: anybody, who is signed in, who has a role in the project, or administrators. */
export type Needs = 'nobody' | 'person' | MemberRole | 'admin';

/** What a procedure says of itself. */
export type Declared = {
  needs: Needs;
  /** Of a mutation: it changes nothing, and is posted because no address has room for what it is asked. */
  isReading?: true;
};

/** What a procedure is given: the service's parts, and the one request that it came with. */
export type ProcedureContext = {
  deps: Deps;
  requestId: string;
  /** The address that the request came from. */
  address: string;
  /** Refuses what a page of another origin asks for. `isReading` says that the call changes nothing. */
  checkSite: (call: { isReading: boolean }) => void;
  /** The token of the session, of which the client sent both halves. */
  sessionToken: string | null;
  /** The device cookie: of a browser that signed in before. */
  deviceCookie: string | null;
  /** Answers with a session cookie that holds this token, or with one that ends it. */
  keepSession: (token: string | null) => void;
  /** Answers with a device cookie of this value. */
  keepDevice: (value: string) => void;
  /** The person behind the session cookie. The database is asked once per request at most. */
  findPerson: () => Promise<Person | null>;
  /** What a person may do in a project; null where they may not even see it, or there is none. */
  findRole: (person: Person, projectId: string) => Promise<MemberRole | null>;
  /**
   * Counts this request among those that look on at a project, or refuses where there are too many. Answers with
   * what says that it is over: the client left, the session or the role ended, or the process stops.
   */
  openStream: (person: Person, projectId: string) => AbortSignal;
  /** Refuses unless this is the person's password. */
  confirm: (person: Person, password: string | undefined) => Promise<void>;
};

/** What an error is called where it did not come from a procedure of ours, by tRPC's own code. */
const namesOfCodes: Partial<Record<TRPC_ERROR_CODE_KEY, RefusalName>> = {
  PARSE_ERROR: 'invalid_json',
  BAD_REQUEST: 'invalid_request',
  NOT_FOUND: 'not_found',
  METHOD_NOT_SUPPORTED: 'method_not_allowed',
  PAYLOAD_TOO_LARGE: 'body_too_large',
  UNSUPPORTED_MEDIA_TYPE: 'unsupported_media_type',
};

const codesOfStatuses: Record<number, TRPC_ERROR_CODE_KEY> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_SUPPORTED',
  408: 'TIMEOUT',
  409: 'CONFLICT',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  422: 'UNPROCESSABLE_CONTENT',
  429: 'TOO_MANY_REQUESTS',
  503: 'SERVICE_UNAVAILABLE',
};

/** What an error is to the client: a name of the catalogue, whatever was thrown. A bug says nothing of itself. */
export const toRefusal = ({ code, cause }: TRPCError): Refusal => {
  if (cause instanceof Refusal) return cause;
  if (cause instanceof z.ZodError)
    return new Refusal('invalid_request', { issues: toIssues(cause), cause });
  return toDatabaseRefusal(cause) ?? new Refusal(namesOfCodes[code] ?? 'internal_error', { cause });
};

/** How often a stream that has nothing to say shows that it is there, and when a client gives it up for lost. */
export const STREAM_PING_MS = 15_000;
const STREAM_LOST_MS = 40_000;

const t = initTRPC
  .context<ProcedureContext>()
  .meta<Declared>()
  .create({
    isDev: false,
    sse: {
      ping: { enabled: true, intervalMs: STREAM_PING_MS },
      client: { reconnectAfterInactivityMs: STREAM_LOST_MS },
    },
    errorFormatter: ({ shape, error, ctx }) => {
      const { reason, extras } = toRefusal(error);
      return {
        code: shape.code,
        message: reason,
        data: {
          code: shape.data.code,
          httpStatus: shape.data.httpStatus,
          detail: extras.detail ?? refusals[reason].detail,
          request_id: ctx?.requestId ?? null,
          issues: extras.issues ?? [],
          /** Of a refusal with more to say: the class of a failure, its cause and its fix. */
          members: extras.members ?? {},
        },
      };
    },
  });

/** A refusal leaves with the code of its status and its name as message. */
const answerRefusals = t.middleware(async ({ next }) => {
  const result = await next();
  if (result.ok) return result;
  const refusal = toRefusal(result.error);
  const code = codesOfStatuses[refusals[refusal.reason].status] ?? 'INTERNAL_SERVER_ERROR';
  throw new TRPCError({ code, message: refusal.reason, cause: refusal });
});

/** A page of another origin can make a browser send the cookie, but cannot claim this origin. */
const refuseForeignSites = t.middleware(({ ctx, type, next }) => {
  ctx.checkSite({ isReading: type === 'query' });
  return next();
});

/** No input may hold text that Postgres cannot store: a query that compares it would fail. */
const refuseUnstorable = t.middleware(async ({ getRawInput, next }) => {
  const issues = listUnstorable(await getRawInput());
  if (issues.length > 0) throw new Refusal('invalid_request', { issues });
  return next();
});

export const { router } = t;

/** Anybody may call it. */
export const openProcedure = t.procedure
  .meta({ needs: 'nobody' })
  .use(answerRefusals)
  .use(refuseForeignSites)
  .use(refuseUnstorable);

/** For people who are signed in, about themselves. `ctx.person` is the one who asks; what they change is audited. */
export const personProcedure = openProcedure
  .meta({ needs: 'person' })
  .use(async ({ ctx, type, path, getRawInput, next }) => {
    const person = await ctx.findPerson();
    if (!person) throw new Refusal('not_signed_in');
    if (type !== 'mutation') return next({ ctx: { person } });
    const deps = withAudit(ctx.deps, {
      actor: { kind: 'person', id: person.person_id },
      action: path,
      targets: listTargets(await getRawInput()),
      requestId: ctx.requestId,
    });
    return next({ ctx: { person, deps } });
  });

/** For administrators of the installation. */
export const adminProcedure = personProcedure.meta({ needs: 'admin' }).use(({ ctx, next }) => {
  if (ctx.person.is_admin) return next();
  throw new Refusal('role_too_low', {
    detail: 'This is for administrators of the installation.',
  });
});

const rankOf = (role: MemberRole): number => MEMBER_ROLES.indexOf(role);

/** For members of the project that `projectId` names; any other project does not exist for them. */
const memberProcedure = (declared: Declared & { needs: MemberRole }) =>
  personProcedure
    .meta(declared)
    .input(z.object({ projectId: z.uuid() }))
    .use(async ({ ctx, input, type, next }) => {
      const role = await ctx.findRole(ctx.person, input.projectId);
      if (role === null) {
        throw new Refusal('not_found', { detail: 'There is no project here that you may see.' });
      }
      // Whoever only reads changes nothing, whatever a procedure forgot to say.
      const { needs, isReading } = declared;
      const needed = type === 'mutation' && needs === 'viewer' && !isReading ? 'editor' : needs;
      if (rankOf(role) < rankOf(needed)) {
        const detail = `This needs the role ${needed} in the project; yours is ${role}. Ask an owner.`;
        throw new Refusal('role_too_low', { detail });
      }
      // What only reads may lock what it looks at, and is no change for that.
      return next({ ctx: { role, deps: isReading ? withoutAudit(ctx.deps) : ctx.deps } });
    });

/** For everybody who may see the project: reading, and nothing else. */
export const projectProcedure = memberProcedure({ needs: 'viewer' });
/** The same for a mutation that changes nothing: it is posted only because its input is large. */
export const readingProcedure = memberProcedure({ needs: 'viewer', isReading: true });
/** For everybody who may see the project, looking on: a stream that ends with their session or their role. */
export const liveProcedure = projectProcedure.use(async ({ ctx, input, next }) => {
  const over = ctx.openStream(ctx.person, input.projectId);
  const result = await next({ ctx: { over } });
  if (!result.ok) return result;
  return { ...result, data: untilOver(result.data as AsyncIterator<unknown>, over) };
});
/** For who does the daily work. */
export const editorProcedure = memberProcedure({ needs: 'editor' });
/** For who decides about the project: members, keys, settings. */
export const ownerProcedure = memberProcedure({ needs: 'owner' });

/** Long enough for every pass phrase, short enough that reading it costs nothing. */
export const PASSWORD_CHARS_MAX = 200;
/** Once more, for what is dangerous: a session that was left open must not be enough. */
export const PasswordAgain = z.object({
  password: z.string().min(1).max(PASSWORD_CHARS_MAX).optional(),
});

/** For owners who enter their password again. */
export const confirmedProcedure = ownerProcedure
  .input(PasswordAgain)
  .use(async ({ ctx, input, next }) => {
    await ctx.confirm(ctx.person, input.password);
    return next();
  });
