// From what `create`, `spawn` and plan files say to the rows that are to be made: names, defaults, executors, trees. Pure, so a
// bad one is refused before any transaction begins.

import type { AnyExecutor } from '../api/executor.ts'
import { type ChildSpec, type CreateSpec, createSpecSchema, type ParsedEngineOptions } from '../api/options.ts'
import { ErrandError } from '../core/errors.ts'
import type { Ids } from '../core/ids.ts'
import { checkText, fromJson, toJson } from '../core/json.ts'
import { parse } from '../core/parse.ts'
import { objectToStore, type Redaction } from '../core/redact.ts'
import type { TaskPolicy } from '../entities/task.ts'
import { type PolicyFields, policyFrom, type StoredFields, storedFrom } from '../entities/task-fields.ts'
import { agentNameOf, type Opening, openingOf, type TeamSpec, teamSpecOf } from './agent-draft.ts'
import { refuseAgentOptions, refuseIdlePolicy } from './idle-options.ts'
import { agentName, agentOf, checkedInput, executorName, type KnownExecutors, runsCommands } from './known-executors.ts'
import { refuseSiblingCycle, siblingsOf } from './siblings.ts'

/** A task to be made, its id drawn already. Parents come before their children. */
export interface TaskDraft extends StoredFields {
  id: string
  /** Ids of drafts or of stored tasks, in the order in which they were named. */
  blockedBy: string[]
  group: boolean
  held: boolean
  policy: TaskPolicy
  /** Its team, if it is to have one of its own; `later`: its branch alone. */
  team: TeamSpec | 'later' | null
  /** Under which name its agent works in a team; null where no agent does. */
  agentId: string | null
  /** It was told that name, and did not just get it from its executor. */
  agentNamed: boolean
  /** Whether its executor runs commands; null for one that this engine does not have. */
  runsCommands: boolean | null
  /** Whose task it is; without it, whose the task above it is. */
  principal?: string
  /** What its conversation opens with, stored with the task; empty for one that no agent works on. */
  opening: Opening[]
}

/** How large a tree may grow. */
export interface TreeLimits {
  /** Levels below a root. */
  maxDepth: number
  /** Children that one task may be given. */
  maxChildren: number
}

export interface DraftContext extends KnownExecutors {
  nextId: (prefix: string) => string
  autoStart: boolean
  /** What holds where a task says nothing. */
  defaultPolicy: PolicyFields
}

interface Place {
  parentId: string | null
  /** What the groups around it come after: so does everything in them. */
  blockedBy: readonly string[]
  held: boolean | undefined
}

/** From what a caller gives to drafts, as one engine sees it. */
export interface Drafter {
  readonly context: DraftContext
  readonly treeLimits: TreeLimits
  /** @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT, UNKNOWN_EXECUTOR, NOT_FOUND, CYCLE; `what` names the door. */
  draft(given: unknown, what: string, parentId?: string): TaskDraft[]
}

export function createDrafter(
  options: ParsedEngineOptions,
  executors: ReadonlyMap<string, AnyExecutor>,
  ids: Ids,
  redaction: Redaction,
): Drafter {
  const { autoComplete, onChildFailure, onDependencyFailure } = options
  const context: DraftContext = {
    nextId: (prefix) => ids.next(prefix),
    executors,
    anyExecutor: !options.work,
    autoStart: options.autoStart,
    defaultPolicy: { autoComplete, onChildFailure, onDependencyFailure },
  }
  return {
    context,
    treeLimits: { maxDepth: options.maxDepth, maxChildren: options.maxChildren },
    draft(given, what, parentId) {
      const parsed = parse(createSpecSchema, given as CreateSpec, what)
      const spec = redaction.isOn ? redactedSpec(parsed, redaction) : parsed
      const place = { parentId: parentId ?? spec.parentId ?? null, blockedBy: [], held: undefined }
      return draftTree(spec, undefined, place, context)
    },
  }
}

/** Before names and first lines are made of it, and before anybody compares it with what is stored. */
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
    ...(input === undefined ? {} : { input: redaction.value(fromJson(toJson(input, 'the input')), 'task', 'input') }),
    ...(metadata === undefined
      ? {}
      : { metadata: objectToStore(redaction, fromJson(toJson(metadata, 'the metadata')), 'task', 'metadata') }),
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

const maxDefaultNameLength = 80

/** The rows of a task and of those below it: the root first, parents before children. */
function draftTree(spec: ChildSpec, localName: string | undefined, place: Place, context: DraftContext): TaskDraft[] {
  const named = executorName(spec.executor, context)
  const executor = named ?? executorOfGoal(spec)
  const children = spec.tasks ?? {}
  const group = spec.tasks !== undefined && executor === null && spec.goal === undefined
  const name = spec.name ?? localName ?? named ?? spec.goal?.split('\n')[0]?.slice(0, maxDefaultNameLength)
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
  // A task that is worked on from outside never starts by itself, so nothing holds it back from whoever claims it.
  const byHand = executor === null && !group
  const held = !byHand && (spec.autoStart === undefined ? (place.held ?? !context.autoStart) : !spec.autoStart)
  const blockedBy = [...new Set([...(spec.blockedBy ?? []), ...place.blockedBy])]
  const root: TaskDraft = {
    ...storedFrom(spec as Partial<StoredFields>),
    id: context.nextId('task'),
    key: spec.key === undefined ? null : checkText(spec.key, 'the key'),
    name: checkText(name, 'the name'),
    goal: spec.goal === undefined ? null : checkText(spec.goal, 'the goal'),
    description: checkText(spec.description ?? '', 'the description'),
    executor,
    input: checkedInput(executor, spec.input, name, context),
    parentId: place.parentId,
    blockedBy,
    group,
    held,
    policy: policyOf(spec, executor, context),
    metadata: fromJson(toJson(spec.metadata ?? {}, 'the metadata')),
    team: teamSpecOf(spec),
    agentId: agentNameOf(spec, name, executor, context),
    agentNamed: spec.agentId !== undefined,
    runsCommands: executor === null ? false : runsCommands(executor, context),
    opening: openingOf(spec, executor, context),
  }
  if (spec.tasks === undefined) return [root]
  return [root, ...draftChildren(children, root, spec.autoStart === undefined ? place.held : held, context)]
}

/** A goal is for an agent, whether there is a model for it by now or not; with a role it is for whoever claims it in that role. */
function executorOfGoal({ goal, role }: ChildSpec): string | null {
  return goal === undefined || role !== undefined ? null : agentName
}

function policyOf(spec: ChildSpec, executor: string | null, context: DraftContext): TaskPolicy {
  const lists = [agentOf(executor, context)?.abilities, spec.abilities].filter((list) => list !== undefined)
  return {
    ...policyFrom(spec, context.defaultPolicy),
    // The agent's own list stands with the task too: it binds what is created below it.
    ...(lists.length === 0 ? {} : { abilities: lists.map((list) => [...list]) }),
    ...(spec.systemPrompt === undefined ? {} : { systemPrompt: checkText(spec.systemPrompt, 'the system prompt') }),
  }
}

/** Siblings may name each other in any order, so their ids are drawn before their edges. */
function draftChildren(
  children: Record<string, ChildSpec>,
  parent: TaskDraft,
  held: Place['held'],
  context: DraftContext,
): TaskDraft[] {
  refuseSiblingCycle(children, parent.name)
  const ids = new Map(Object.keys(children).map((local) => [local, context.nextId('task')]))
  const inherited = parent.group ? parent.blockedBy : []
  return Object.entries(children).flatMap(([local, child]) => {
    const after = siblingsOf(child).map((sibling) => ids.get(sibling) as string)
    const place = { parentId: parent.id, blockedBy: [...after, ...inherited], held }
    const nextId = rootIdThen(ids.get(local) as string, context.nextId)
    return draftTree(child, local, place, { ...context, nextId })
  })
}

/** The first id drawn is one that was promised to the siblings. */
function rootIdThen(rootId: string, nextId: DraftContext['nextId']): DraftContext['nextId'] {
  let promised: string | undefined = rootId
  return (prefix) => {
    const id = promised ?? nextId(prefix)
    promised = undefined
    return id
  }
}
