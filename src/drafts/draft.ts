// From what `create`, `spawn` and plan files say to the rows that are to be made: names, defaults, executors, trees. Pure, so a
// bad one is refused before any transaction begins.
import { categoryNamed, toHundredths } from '../entities/confidence.ts'
import type { AutoComplete, OnChildFailure, OnDependencyFailure, RetryPolicy, TaskPolicy } from '../entities/task.ts'
import { ErrandError, nearestName } from '../errors.ts'
import { type AgentTraits, type AnyExecutor, isExecutor } from '../executor.ts'
import type { Ids } from '../ids.ts'
import { checkText, fromJson, toJson } from '../json.ts'
import { cycleError } from '../machines/task-graph.ts'
import { type ChildSpec, type CreateSpec, createSpecSchema, type ParsedEngineOptions } from '../options.ts'
import { parse } from '../parse.ts'
import { checkedInput } from './executor-input.ts'

/** A task to be made, its id drawn already. Parents come before their children. */
export interface TaskDraft {
  id: string
  key: string | null
  name: string
  goal: string | null
  description: string
  executor: string | null
  input: unknown
  priority: number
  parentId: string | null
  /** Ids of drafts or of stored tasks, in the order in which they were named. */
  blockedBy: string[]
  group: boolean
  held: boolean
  notBefore: number | null
  deadline: number | null
  role: string | null
  tags: string[]
  policy: TaskPolicy
  metadata: Record<string, unknown>
  /** Its team, if it is to have one of its own; `later`: its branch alone. */
  team: TeamSpec | 'later' | null
  /** Under which name its agent works in a team; null where no agent does. */
  agentId: string | null
  /** It was told that name, and did not just get it from its executor. */
  agentNamed: boolean
  /** What its conversation opens with, stored with the task; empty for one that no agent works on. */
  opening: Opening[]
}

export interface Opening {
  id: string
  role: 'system' | 'user'
  content: string
}

/** How large a tree may grow. */
export interface TreeLimits {
  /** Levels below a root. */
  maxDepth: number
  /** Children that one task may be given. */
  maxChildren: number
}

/** What a task's team is told to be. */
export interface TeamSpec {
  /** What kind of work it is; null when nobody said. */
  type: string | null
  /** Descriptions, in order; they are numbered from 1. */
  objectives: readonly string[]
  /** Null: the branch of the nearest team above, else `main`. */
  parentBranch: string | null
  /** Hundredths; null: as the engine says. */
  durableThreshold: number | null
  durableCategories: string[] | null
}

export interface DraftContext {
  nextId: (prefix: string) => string
  executors: ReadonlyMap<string, AnyExecutor>
  /** A producer may name executors that only other processes have. */
  anyExecutor: boolean
  autoStart: boolean
  autoComplete: AutoComplete
  onChildFailure: OnChildFailure
  onDependencyFailure: OnDependencyFailure
  /** The executor of tasks that have a goal and name none; null while no model is at hand. */
  goalExecutor: () => string | null
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
  goalExecutor: () => string | null,
): Drafter {
  const context: DraftContext = {
    nextId: (prefix) => ids.next(prefix),
    executors,
    anyExecutor: !options.work,
    autoStart: options.autoStart,
    autoComplete: options.autoComplete,
    onChildFailure: options.onChildFailure,
    onDependencyFailure: options.onDependencyFailure,
    goalExecutor,
  }
  return {
    context,
    treeLimits: { maxDepth: options.maxDepth, maxChildren: options.maxChildren },
    draft(given, what, parentId) {
      const spec = parse(createSpecSchema, given as CreateSpec, what)
      return toDrafts(parentId === undefined ? spec : { ...spec, parentId }, context)
    },
  }
}

const longestDefaultName = 80

/** The rows of one creation, the root first, parents before children. */
export function toDrafts(spec: CreateSpec, context: DraftContext): TaskDraft[] {
  return draftTree(spec, undefined, { parentId: spec.parentId ?? null, blockedBy: [], held: undefined }, context)
}

function draftTree(spec: ChildSpec, localName: string | undefined, place: Place, context: DraftContext): TaskDraft[] {
  const named = executorName(spec.executor, context)
  const executor = named ?? (spec.goal === undefined ? null : context.goalExecutor())
  const children = spec.tasks ?? {}
  const group = spec.tasks !== undefined && executor === null && spec.goal === undefined
  const name = spec.name ?? localName ?? named ?? spec.goal?.split('\n')[0]?.slice(0, longestDefaultName)
  if (name === undefined) {
    throw new ErrandError('INVALID_INPUT', 'A task needs a name, unless it has an executor or a goal. Add `name`.', {})
  }
  if (spec.tasks !== undefined && Object.keys(children).length === 0) {
    throw new ErrandError('INVALID_INPUT', `The group "${name}" has no tasks. Add some, or leave \`tasks\` out.`, {
      name,
    })
  }
  refuseIdlePolicy(spec, name, executor, group)
  refuseForAgents(spec, name, executor, context)
  // A task that is worked on from outside never starts by itself, so nothing holds it back from whoever claims it.
  const byHand = executor === null && !group
  const held = !byHand && (spec.autoStart === undefined ? (place.held ?? !context.autoStart) : !spec.autoStart)
  const blockedBy = [...new Set([...(spec.blockedBy ?? []), ...place.blockedBy])]
  const root: TaskDraft = {
    id: context.nextId('task'),
    key: spec.key === undefined ? null : checkText(spec.key, 'the key'),
    name: checkText(name, 'the name'),
    goal: spec.goal === undefined ? null : checkText(spec.goal, 'the goal'),
    description: checkText(spec.description ?? '', 'the description'),
    executor,
    input: checkedInput(executor, spec.input, name, context),
    priority: spec.priority ?? 0,
    parentId: place.parentId,
    blockedBy,
    group,
    held,
    notBefore: spec.notBefore ?? null,
    deadline: spec.deadline ?? null,
    role: spec.role ?? null,
    tags: spec.tags ?? [],
    policy: policyOf(spec, executor, context),
    metadata: fromJson(toJson(spec.metadata ?? {}, 'the metadata')),
    team: teamSpecOf(spec),
    agentId: agentNameOf(spec, name, executor, context),
    agentNamed: spec.agentId !== undefined,
    opening: openingOf(spec, executor, context),
  }
  if (spec.tasks === undefined) return [root]
  return [
    root,
    ...draftChildren(
      children,
      root,
      group,
      { ...place, held: spec.autoStart === undefined ? place.held : held },
      context,
    ),
  ]
}

function policyOf(spec: ChildSpec, executor: string | null, context: DraftContext): TaskPolicy {
  const lists = [agentOf(executor, context)?.abilities, spec.abilities].filter((list) => list !== undefined)
  const failure = spec.onDependencyFailure ?? context.onDependencyFailure
  return {
    ...(spec.retry === undefined ? {} : { retry: spec.retry as Partial<RetryPolicy> }),
    ...(spec.timeoutMs === undefined ? {} : { timeoutMs: spec.timeoutMs }),
    ...(spec.onInterrupt === undefined ? {} : { onInterrupt: spec.onInterrupt }),
    ...unlessDefault('autoComplete', spec.autoComplete ?? context.autoComplete, false as AutoComplete),
    ...unlessDefault<'onChildFailure', OnChildFailure>(
      'onChildFailure',
      spec.onChildFailure ?? context.onChildFailure,
      'ignore',
    ),
    ...unlessDefault<'onDependencyFailure', OnDependencyFailure>('onDependencyFailure', failure, 'block'),
    ...(spec.tellParent ? { tellParent: true } : {}),
    ...(spec.concurrency === undefined ? {} : { concurrency: spec.concurrency }),
    // The agent's own list stands with the task too: it binds what is created below it.
    ...(lists.length === 0 ? {} : { abilities: lists.map((list) => [...list]) }),
    ...(spec.model === undefined ? {} : { model: spec.model }),
    ...(spec.systemPrompt === undefined ? {} : { systemPrompt: checkText(spec.systemPrompt, 'the system prompt') }),
  }
}

/** A task is a team's as soon as anything is said that only a team has. */
function teamSpecOf(spec: ChildSpec): TaskDraft['team'] {
  const { type, objectives, parentBranch, durableThreshold, durableCategories } = spec
  const said = [type, objectives, parentBranch, durableThreshold, durableCategories]
  if (spec.team === false && said.some((each) => each !== undefined)) {
    throw new ErrandError(
      'INVALID_INPUT',
      '`team: false` goes with no field of a team (type, objectives, parentBranch, durableThreshold, durableCategories). Leave one of them out.',
      { option: 'team' },
    )
  }
  if (spec.team !== true && said.every((each) => each === undefined)) return spec.team === 'later' ? 'later' : null
  return {
    type: type ?? null,
    objectives: (objectives ?? []).map((objective) => checkText(objective, 'an objective')),
    parentBranch: parentBranch ?? null,
    durableThreshold: durableThreshold === undefined ? null : toHundredths(durableThreshold),
    durableCategories: durableCategories?.map(categoryNamed) ?? null,
  }
}

/** An executor that this engine does not know may be an agent. */
function agentNameOf(spec: ChildSpec, name: string, executor: string | null, context: DraftContext): string | null {
  const known = executor === null ? undefined : context.executors.get(executor)
  const isAgent = executor !== null && (known === undefined || (isExecutor(known) && known.agent !== undefined))
  if (isAgent) return spec.agentId ?? executor
  if (spec.agentId === undefined) return null
  const why =
    executor === null
      ? 'no executor runs it: who works on it from outside joins by `agent:join`'
      : `its executor ${executor} is no agent`
  throw new ErrandError('INVALID_INPUT', `\`agentId\` does nothing for "${name}": ${why}. Leave it out.`, {
    name,
    option: 'agentId',
  })
}

/** Told to an agent that has no instructions of its own (conformance S0-008). */
export const defaultSystemPrompt = 'You are a helpful AI assistant.'

function agentOf(executor: string | null, { executors }: DraftContext): AgentTraits | undefined {
  const known = executor === null ? undefined : executors.get(executor)
  return isExecutor(known) ? known.agent : undefined
}

/** The first lines of an agent's conversation. An engine that does not know the executor leaves them to the agent itself. */
function openingOf(spec: ChildSpec, executor: string | null, context: DraftContext): Opening[] {
  const agent = agentOf(executor, context)
  if (agent === undefined) return []
  const assignment = checkText(assignmentOf(spec), 'the goal')
  if (assignment.trim() === '') {
    throw new ErrandError(
      'INVALID_INPUT',
      `The agent ${executor} would not know what to do: give the task a goal, or an input.`,
      {
        executor,
      },
    )
  }
  const line = (role: Opening['role'], content: string): Opening => ({ id: context.nextId('msg'), role, content })
  return [line('system', spec.systemPrompt ?? agent.instructions ?? defaultSystemPrompt), line('user', assignment)]
}

/** The goal, and what was given with it. */
function assignmentOf({ goal, input }: ChildSpec): string {
  const given =
    input === undefined || input === null ? [] : [typeof input === 'string' ? input : JSON.stringify(input, null, 2)]
  return [...(goal === undefined ? [] : [goal]), ...given].join('\n\n')
}

/** Rows are read for each decision: what everybody does anyway is not written into each of them. */
function unlessDefault<K extends string, V>(field: K, value: V, usual: V): Partial<Record<K, V>> {
  return value === usual ? {} : ({ [field]: value } as Record<K, V>)
}

/** Instructions and models are an agent's. An executor that this engine does not know may be one. */
function refuseForAgents(spec: ChildSpec, name: string, executor: string | null, context: DraftContext): void {
  const known = executor === null ? undefined : context.executors.get(executor)
  if (known === undefined || (isExecutor(known) && known.agent !== undefined)) return
  const option = (['systemPrompt', 'model'] as const).find((field) => spec[field] !== undefined)
  if (option === undefined) return
  throw new ErrandError(
    'INVALID_INPUT',
    `\`${option}\` does nothing for "${name}": its executor ${executor} is no agent. Leave it out, or name an executor that \`agent\` made.`,
    { name, option, executor },
  )
}

type IdleOption = 'retry' | 'timeoutMs' | 'role' | 'systemPrompt' | 'model'

/** An option that does nothing is not taken: whoever gave it counts on it. */
export function refuseIdlePolicy(
  spec: { [field in IdleOption]?: unknown },
  name: string,
  executor: string | null,
  group: boolean,
): void {
  const byHand = executor === null && !group
  const ofRuns: IdleOption[] = ['retry', 'timeoutMs', 'systemPrompt', 'model']
  const idle: IdleOption[] = byHand ? ofRuns : group ? [...ofRuns, 'role'] : ['role']
  const option = idle.find((field) => spec[field] !== undefined && spec[field] !== null)
  if (option === undefined) return
  const why = group
    ? 'it is a group and is not worked on itself. Give it to the tasks in the group'
    : byHand
      ? option === 'model' || option === 'systemPrompt'
        ? 'no agent works on it. Give createEngine a `model` or `resolveModel`, and the task a goal; or name an agent as its executor'
        : 'without an executor no run of it is ever made. Name an executor'
      : 'its executor runs it, and nobody claims it. Leave the executor out'
  throw new ErrandError('INVALID_INPUT', `\`${option}\` does nothing for "${name}": ${why}, or leave it out.`, {
    name,
    option,
  })
}

/** Siblings may name each other in any order, so their ids are drawn before their edges. */
function draftChildren(
  children: Record<string, ChildSpec>,
  parent: TaskDraft,
  group: boolean,
  place: Place,
  context: DraftContext,
): TaskDraft[] {
  refuseSiblingCycle(children, parent.name)
  const ids = new Map(Object.keys(children).map((local) => [local, context.nextId('task')]))
  const trees = new Map<string, TaskDraft[]>()
  for (const [local, child] of Object.entries(children)) {
    const after = siblingsOf(child).map((sibling) => ids.get(sibling) as string)
    const inherited = group ? parent.blockedBy : []
    const tree = draftTree(
      child,
      local,
      { parentId: parent.id, blockedBy: [...after, ...inherited], held: place.held },
      { ...context, nextId: rootIdThen(ids.get(local) as string, context.nextId) },
    )
    trees.set(local, tree)
  }
  return [...trees.values()].flat()
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

export function siblingsOf(child: Pick<ChildSpec, 'after'>): string[] {
  return child.after === undefined ? [] : Array.isArray(child.after) ? child.after : [child.after]
}

/** Each edge once and on a stack of its own: there may be thousands, each after the next. */
function refuseSiblingCycle(children: Record<string, ChildSpec>, where: string): void {
  const done = new Set<string>()
  /** From where it began to where it stands. */
  const path = new Set<string>()
  for (const start of Object.keys(children)) {
    const rest = [{ local: start, leaving: false }]
    for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
      const { local, leaving } = next
      if (leaving) {
        path.delete(local)
        done.add(local)
        continue
      }
      if (path.has(local)) {
        const round = [...path]
        throw cycleError(`"${local}" in "${where}" cannot come after itself`, [
          ...round.slice(round.indexOf(local)),
          local,
        ])
      }
      if (done.has(local)) continue
      path.add(local)
      rest.push({ local, leaving: true })
      for (const sibling of siblingsOf(children[local] as ChildSpec).toReversed()) {
        requireSibling(sibling, local, children, where)
        rest.push({ local: sibling, leaving: false })
      }
    }
  }
}

function requireSibling(sibling: string, local: string, children: Record<string, ChildSpec>, where: string): void {
  if (Object.hasOwn(children, sibling)) return
  const siblings = Object.keys(children)
  const nearest = nearestName(sibling, siblings)
  throw new ErrandError(
    'NOT_FOUND',
    `"${local}" in "${where}" comes after "${sibling}", which is not among its siblings.${nearest ? ` Did you mean "${nearest}"?` : ''}`,
    { name: local, after: sibling, nearest, siblings },
  )
}

/**
 * The name under which an executor is known here.
 * @throws ErrandError UNKNOWN_EXECUTOR with the nearest name.
 */
export function executorName(
  executor: unknown,
  context: Pick<DraftContext, 'executors' | 'anyExecutor'>,
): string | null {
  if (executor === undefined) return null
  if (typeof executor !== 'string') {
    for (const [name, known] of context.executors) if (known === executor) return name
    throw new ErrandError(
      'UNKNOWN_EXECUTOR',
      'This executor is not one of the engine. Give it a name in createEngine({ executors }).',
      { known: [...context.executors.keys()] },
    )
  }
  if (context.executors.has(executor) || context.anyExecutor) return executor
  const known = [...context.executors.keys()]
  const nearest = nearestName(executor, known)
  throw new ErrandError(
    'UNKNOWN_EXECUTOR',
    `There is no executor "${executor}".${nearest ? ` Did you mean "${nearest}"?` : ''} This engine has: ${known.join(', ') || 'none'}.`,
    { executor, nearest, known },
  )
}

/** @throws ErrandError UNKNOWN_EXECUTOR for a limit on an executor that this engine does not have. */
export function requireExecutors(named: readonly string[], known: readonly string[], where: string): void {
  for (const name of named) {
    if (known.includes(name)) continue
    const nearest = nearestName(name, known)
    throw new ErrandError(
      'UNKNOWN_EXECUTOR',
      `${where} names "${name}", which is no executor of this engine.${nearest ? ` Did you mean "${nearest}"?` : ''}`,
      { executor: name, nearest, known: [...known] },
    )
  }
}
