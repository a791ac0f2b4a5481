// Turns the input of `create`, `spawn` and plan files into the rows to be inserted: names, defaults, executors, trees. Pure, so that
// invalid input is refused before a transaction begins.
import { ErrandError, nearestName } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'
import { faithfulImage } from '../../core/json.ts'
import { parse } from '../../core/parse.ts'
import { objectToStore, type Redaction } from '../../core/redact.ts'
import { startOf } from '../../core/storable-text.ts'
import type { AnyExecutor } from '../../entities/executor.ts'
import { type ChildSpec, type CreateSpec, createSpecSchema, type ParsedEngineOptions } from '../../entities/options.ts'
import type { TaskPolicy } from '../../entities/task.ts'
import { type PolicyFields, policyFrom, type StoredFields, storedFrom } from '../../entities/task-fields.ts'
import { cycleError, cycleIn } from '../../machines/task-graph.ts'
import { agentNameOf, type Opening, openingOf, type TeamSpec, teamSpecOf } from './agent-draft.ts'
import { fieldsElsewhere } from './fields-elsewhere.ts'
import { HandlerDrafts, noHandlers } from './handler-drafts.ts'
import { refuseAgentOptions, refuseIdlePolicy } from './idle-options.ts'
import { agentName, agentOf, checkedInput, executorName, type KnownExecutors, runsCommands } from './known-executors.ts'

/** A task to be created, with its id. Parents come before their children. */
export interface TaskDraft extends StoredFields {
  id: string
  /** Ids of drafts or of stored tasks, in the order in which they were named. */
  blockedBy: string[]
  group: boolean
  held: boolean
  /** How long it rests after its creation. */
  delayMs: number
  policy: TaskPolicy
  /** Its own team; `later`: only the branch of one. */
  team: TeamSpec | 'later' | null
  /** The name of its agent in a team; null when no agent works on it. */
  agentId: string | null
  /** Whether that name was given, and not derived from the executor. */
  agentNamed: boolean
  /** Whether its executor runs commands; null for one that this engine does not have. */
  runsCommands: boolean | null
  /** Of a task without a parent that has one. Default: none. */
  principal?: string | null
  /** The original of a fork. */
  forkedFrom?: string
  /** Default: that of its parent. */
  system?: boolean
  /** A handler that the program has given to an executor or the engine. */
  byProgram?: true
  /** The first messages of its conversation, stored with the task; empty when no agent works on it. */
  opening: Opening[]
}

/** The limits of a tree. */
export interface TreeLimits {
  /** Levels below a root. */
  maxDepth: number
  /** Children that one task may be given. */
  maxChildren: number
}

export interface DraftContext extends KnownExecutors {
  nextId: (prefix: string) => string
  autoStart: boolean
  /** The defaults of the engine. */
  defaultPolicy: PolicyFields
  handlers: Pick<HandlerDrafts<TaskDraft>, 'of'>
  /** A task without an input gets one when it is created: the schema of its executor checks it in the run. */
  inputFollows?: true
  /** Of what creates the tasks. */
  traceparent?: string
}

interface Position {
  parentId: string | null
  /** The dependencies of the groups that contain it, which it inherits. */
  blockedBy: readonly string[]
  held: boolean | undefined
}

/** Makes drafts from the input of callers, with the executors and defaults of one engine. */
export interface Drafter {
  readonly context: DraftContext
  readonly treeLimits: TreeLimits
  /** `given` has passed the gate. @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT, UNKNOWN_EXECUTOR, NOT_FOUND, CYCLE; `what` names the operation. */
  draft(given: unknown, what: string, parentId?: string): TaskDraft[]
}

export function createDrafter(
  options: ParsedEngineOptions,
  executors: ReadonlyMap<string, AnyExecutor>,
  ids: Ids,
  redaction: Redaction,
): Drafter {
  const { autoComplete, onChildFailure, onDependencyFailure } = options
  const redacted = (spec: ChildSpec): ChildSpec => (redaction.isOn ? redactedSpec(spec, redaction) : spec)
  const handlers = new HandlerDrafts(options, executors, (spec) => {
    const position = { parentId: null, blockedBy: [], held: undefined }
    // `autoStart: false` is for tasks that a program starts, and none starts these.
    const byItself = { ...context, handlers: noHandlers, inputFollows: true, autoStart: true } as const
    return draftTree(redacted(spec), undefined, position, byItself)[0] as TaskDraft
  })
  const context: DraftContext = {
    nextId: (prefix) => ids.next(prefix),
    executors,
    anyExecutor: !options.work,
    autoStart: options.autoStart,
    defaultPolicy: { autoComplete, onChildFailure, onDependencyFailure },
    handlers,
  }
  // A faulty template is refused when the engine opens, not with each task that it creates.
  handlers.draftAll()
  return {
    context,
    treeLimits: { maxDepth: options.maxDepth, maxChildren: options.maxChildren },
    draft(given, what, parentId) {
      const parsed = parse(createSpecSchema, given as CreateSpec, what, fieldsElsewhere)
      const spec = redaction.isOn ? redactedSpec(parsed, redaction) : parsed
      const position = { parentId: parentId ?? spec.parentId ?? null, blockedBy: [], held: undefined }
      const traceparent = options.telemetry?.current()
      return draftTree(spec, undefined, position, traceparent === undefined ? context : { ...context, traceparent })
    },
  }
}

/** Redacts a spec before names and first messages derive from it, and before it is compared with stored tasks. */
function redactedSpec<S extends ChildSpec>(spec: S, redaction: Redaction): S {
  const { name, goal, description, systemPrompt, input, metadata, objectives, tasks } = spec
  const text = (given: string | undefined, field: string) =>
    given === undefined ? {} : { [field]: redaction.text(given, 'task', field) }
  return {
    ...spec,
    ...text(name, 'name'),
    ...text(goal, 'goal'),
    ...text(description, 'description'),
    ...(systemPrompt === undefined
      ? {}
      : { systemPrompt: redaction.text(systemPrompt, 'task', 'policy', 'systemPrompt') }),
    ...(input === undefined
      ? {}
      : { input: redaction.value(faithfulImage(input, 'the input', 'input'), 'task', 'input') }),
    ...(metadata === undefined ? {} : { metadata: objectToStore(redaction, metadataOf(metadata), 'task', 'metadata') }),
    ...(objectives === undefined
      ? {}
      : { objectives: objectives.map((each) => redaction.text(each, 'objective', 'description')) }),
    ...(tasks === undefined
      ? {}
      : {
          tasks: Object.fromEntries(
            Object.entries(tasks).map(([local, child]) => [local, redactedSpec(child, redaction)]),
          ),
        }),
  }
}

function metadataOf(given: Record<string, unknown> = {}): Record<string, unknown> {
  return faithfulImage(given, 'the metadata', 'metadata') as Record<string, unknown>
}

const maxDefaultNameLength = 80

/** The rows of a task and of those below it: the root first, parents before children. */
function draftTree(
  spec: ChildSpec,
  localName: string | undefined,
  position: Position,
  context: DraftContext,
): TaskDraft[] {
  const named = executorName(spec.executor, context)
  const executor = named ?? executorOfGoal(spec)
  const children = spec.tasks ?? {}
  const group = spec.tasks !== undefined && executor === null && spec.goal === undefined
  const [goal] = spec.goal?.split('\n', 1) ?? []
  const name = spec.name ?? localName ?? named ?? (goal === undefined ? goal : startOf(goal, maxDefaultNameLength))
  if (name === undefined) {
    throw new ErrandError('INVALID_INPUT', 'A task needs a name, unless it has an executor or a goal. Add `name`.', {})
  }
  if (spec.tasks !== undefined && Object.keys(children).length === 0) {
    throw new ErrandError('INVALID_INPUT', `The group "${name}" has no tasks. Add some, or leave \`tasks\` out.`, {
      name,
    })
  }
  refuseIdlePolicy(spec, name, executor, group)
  refuseAgentOptions(spec, name, executor, context)
  // A task without an executor never starts by itself, so it is never held and may be claimed at once.
  const byHand = executor === null && !group
  const held = !byHand && (spec.autoStart === undefined ? (position.held ?? !context.autoStart) : !spec.autoStart)
  const blockedBy = [...new Set([...(spec.blockedBy ?? []), ...position.blockedBy])]
  const root: TaskDraft = {
    ...storedFrom(spec as Partial<StoredFields>),
    id: context.nextId('task'),
    key: spec.key ?? null,
    name,
    goal: spec.goal ?? null,
    description: spec.description ?? '',
    executor,
    input: context.inputFollows && spec.input === undefined ? null : checkedInput(executor, spec.input, name, context),
    parentId: position.parentId,
    blockedBy,
    group,
    held,
    delayMs: spec.delayMs ?? 0,
    policy: policyOf(spec, executor, context),
    metadata: metadataOf(spec.metadata),
    team: teamSpecOf(spec),
    agentId: agentNameOf(spec, name, executor, context),
    agentNamed: spec.agentId !== undefined,
    runsCommands: executor === null ? false : runsCommands(executor, context),
    opening: openingOf(spec, executor, context),
  }
  if (spec.tasks === undefined) return [root]
  return [root, ...draftChildren(children, root, spec.autoStart === undefined ? position.held : held, context)]
}

/** A goal is for an agent, even if there is no model yet; with a role it is for a worker that claims it. */
function executorOfGoal({ goal, role }: ChildSpec): string | null {
  return goal === undefined || role !== undefined ? null : agentName
}

function policyOf(spec: ChildSpec, executor: string | null, context: DraftContext): TaskPolicy {
  const lists = [agentOf(executor, context)?.abilities, spec.abilities].filter((list) => list !== undefined)
  return {
    ...policyFrom(spec, context.defaultPolicy),
    ...context.handlers.of(spec, executor),
    // The agent's own list is stored with the task too, because it restricts the tasks created below it.
    ...(lists.length === 0 ? {} : { abilities: lists.map((list) => [...list]) }),
    ...(spec.systemPrompt === undefined ? {} : { systemPrompt: spec.systemPrompt }),
    ...(context.traceparent === undefined ? {} : { traceparent: context.traceparent }),
  }
}

/** Siblings may name each other in any order, so all ids are drawn first. */
function draftChildren(
  children: Record<string, ChildSpec>,
  parent: TaskDraft,
  held: Position['held'],
  context: DraftContext,
): TaskDraft[] {
  refuseSiblingCycle(children, parent.name)
  const ids = new Map(Object.keys(children).map((local) => [local, context.nextId('task')]))
  const inherited = parent.group ? parent.blockedBy : []
  return Object.entries(children).flatMap(([local, child]) => {
    const after = siblingsOf(child).map((sibling) => ids.get(sibling) as string)
    const position = { parentId: parent.id, blockedBy: [...after, ...inherited], held }
    const nextId = rootIdThen(ids.get(local) as string, context.nextId)
    return draftTree(child, local, position, { ...context, nextId })
  })
}

/** Returns `rootId` first, which siblings already refer to. */
function rootIdThen(rootId: string, nextId: DraftContext['nextId']): DraftContext['nextId'] {
  let reserved: string | undefined = rootId
  return (prefix) => {
    const id = reserved ?? nextId(prefix)
    reserved = undefined
    return id
  }
}

// Checks the dependencies between siblings, given by local names: each name must exist, and they must not form a cycle.

function siblingsOf(child: Pick<ChildSpec, 'after'>): string[] {
  return child.after === undefined ? [] : Array.isArray(child.after) ? child.after : [child.after]
}

function refuseSiblingCycle(children: Record<string, ChildSpec>, where: string): void {
  const cycle = cycleIn(Object.keys(children), (local) => {
    const siblings = siblingsOf(children[local] as ChildSpec)
    for (const sibling of siblings.toReversed()) requireSibling(sibling, local, children, where)
    return siblings
  })
  if (cycle !== undefined) throw cycleError(`"${cycle[0]}" in "${where}" cannot depend on itself`, cycle)
}

function requireSibling(sibling: string, local: string, children: Record<string, ChildSpec>, where: string): void {
  if (Object.hasOwn(children, sibling)) return
  const siblings = Object.keys(children)
  const nearest = nearestName(sibling, siblings)
  throw new ErrandError(
    'NOT_FOUND',
    `"${local}" in "${where}" depends on "${sibling}", which is not one of its siblings.${nearest ? ` Did you mean "${nearest}"?` : ''}`,
    { name: local, after: sibling, nearest, siblings },
  )
}
