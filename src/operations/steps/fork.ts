// Fork: a new task that begins with what another one has recorded up to a point. The entries are copied under ids of their own, as of run 0,
// so that the first run of the fork replays them. The original is only read.

import { type Caller, creatorOf } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import { type CallRecord, identOf } from '../../entities/call.ts'
import { callKeyOf } from '../../entities/conversation.ts'
import type { MessageRecord } from '../../entities/message.ts'
import { type TaskRecord, titleOf } from '../../entities/task.ts'
import { storedFrom } from '../../entities/task-fields.ts'
import { type Op, type Reads, type Step, step, type Tx } from '../../ledger/ledger.ts'
import { type ForkPoint, forkPointOf, type Recorded, takenOver } from '../../machines/fork-point.ts'
import type { AbilityHost } from '../ability-host.ts'
import type { TaskDraft } from '../drafts/draft.ts'
import { withHandlers } from '../drafts/handler-drafts.ts'
import { checkedInput, runsCommands } from '../drafts/known-executors.ts'
import { restrictDrafts } from '../model-bounds.ts'
import { boundModels } from '../offered-models.ts'
import { create } from './create.ts'
import { isPurged, loadToChange, type StepContext } from './step-context.ts'
import { lineId } from './write-message.ts'

export interface ForkOptions {
  /** The id of a call or of the message of a model step, or `failure`. See `forkPointOf` for the default. */
  at?: string | undefined
  /** What the call at the point returned, in place of making it again. */
  result?: unknown
  /** In place of the input of the original. */
  input?: unknown
  /** For agents. */
  model?: string | undefined
  /** For agents: in place of the instructions. */
  prompt?: string | undefined
}

interface ForkRequest extends StepContext {
  taskId: string
  options: ForkOptions
  host: AbilityHost
  caller: Caller
}

/** Returns the fork. @throws ErrandError NOT_FOUND, PURGED, INVALID_INPUT, FORBIDDEN, and what `create` throws. */
export const fork = (request: ForkRequest): Step<TaskRecord> => step('fork', decideFork, request)

function* decideFork(tx: Tx, request: ForkRequest): Op<TaskRecord> {
  const { taskId, options, host, caller } = request
  const original = yield* loadToChange(tx, taskId)
  const recorded: Recorded = {
    task: original,
    entries: yield* tx.call.ofGeneration(taskId, original.generation),
    messages: yield* tx.message.list(taskId),
  }
  requireOwnWork(original, recorded.entries)
  requireFitting(original, recorded, options)
  const point = forkPointOf(recorded, options.at)
  const made = 'result' in options ? callAt(point, options.result) : undefined
  const draft = yield* draftOf(tx, original, request)
  const trees = yield* boundModels(tx, host, caller, [restrictDrafts([draft], host.drafter, caller)])
  const creation = { ...request, trees, treeLimits: host.drafter.treeLimits, by: caller }
  const [task] = yield* create(creation).decide(tx)
  yield* copy(tx, task as TaskRecord, recorded, point, made, request)
  return task as TaskRecord
}

function requireOwnWork(task: TaskRecord, entries: readonly CallRecord[]): void {
  const why = task.group
    ? 'it is a group, which has no work of its own. Fork one of its tasks'
    : task.executor === null
      ? 'no executor works on it, so nothing would continue the fork. Create a new task'
      : task.policy.team !== undefined
        ? 'it works in a team, and its place there and what the team knows cannot be had twice. Create a new task'
        : entries.some(({ kind }) => kind === 'machine')
          ? 'it is a machine, whose journal does not keep its earlier situations. Create a new task'
          : undefined
  if (why === undefined) return
  throw new ErrandError('INVALID_INPUT', `Cannot fork ${titleOf(task)}: ${why}.`, { taskId: task.id })
}

/** Refuses options without effect. */
function requireFitting(task: TaskRecord, { messages }: Recorded, options: ForkOptions): void {
  const isAgent = messages.some(({ step: taken }) => taken !== null) || task.goal !== null
  const { model, prompt } = options
  const option = isAgent ? ('input' in options ? 'input' : undefined) : (model ?? prompt) && 'model and prompt'
  if (option === undefined) return
  const why = isAgent
    ? 'its agent has read its input already, in the conversation that the fork takes over. Give it other instructions with `prompt`, or send the fork a message'
    : 'are for agents, and no model works on it'
  throw new ErrandError('INVALID_INPUT', `Cannot fork ${titleOf(task)} with another ${option}: ${why}.`, {
    taskId: task.id,
  })
}

/** The call at the point, with a result. */
function callAt(point: ForkPoint, result: unknown): CallRecord {
  if (point === 'end' || !('call' in point)) {
    throw new ErrandError(
      'INVALID_INPUT',
      '`result` is what a call returned, and the fork begins at none. Name the call with `at`.',
      {
        option: 'result',
      },
    )
  }
  const given = { status: 'completed', result, resultLost: null, error: null, dueAt: null, details: null } as const
  return { ...point.call, ...given }
}

function* draftOf(tx: Reads, original: TaskRecord, { at, host, caller, options, teams }: ForkRequest): Op<TaskDraft> {
  const { plan: _plan, ...metadata } = original.metadata
  const {
    repeat: _repeat,
    divergence: _divergence,
    bounds: _bounds,
    notifyParent: _notify,
    ...policy
  } = original.policy
  const { drafter, nextId } = host
  const executor = original.executor as string
  const creator = creatorOf(caller)
  const hasInput = 'input' in options
  const { model, prompt } = options
  const draft: TaskDraft = {
    ...storedFrom(original),
    ...creator,
    principal: creator.principal ?? original.principal,
    mayRunCommands: hasInput || original.mayRunCommands,
    id: nextId('task'),
    key: null,
    parentId: caller.taskId ?? null,
    blockedBy: yield* completedBefore(tx, original),
    input: hasInput ? checkedInput(executor, options.input, original.name, drafter.context) : original.input,
    notBefore: null,
    delayMs: 0,
    deadline: (original.deadline ?? 0) > at ? original.deadline : null,
    metadata,
    group: false,
    held: false,
    policy: {
      ...policy,
      ...(model !== undefined && { model }),
      ...(prompt !== undefined && { systemPrompt: prompt }),
      // With another input the code may take another way: what it requests as before is replayed, and the rest is made.
      ...(hasInput && { divergence: 'allow' as const }),
    },
    team: teams !== undefined && (yield* tx.branch.ofTask(original.id)) !== undefined ? 'later' : null,
    agentId: executor,
    agentNamed: false,
    runsCommands: runsCommands(executor, drafter.context),
    opening: [],
    forkedFrom: original.id,
  }
  // Neither the fork nor its handlers may do more than its creator.
  return withHandlers(draft, (each) => ({ ...each, mayRunCommands: creator.mayRunCommands && each.mayRunCommands }))
}

/** Its function reads the results of the tasks before it. */
function* completedBefore(tx: Reads, { id }: TaskRecord): Op<string[]> {
  const ids: string[] = []
  for (const blockerId of yield* tx.dependency.blockers(id)) {
    const blocker = yield* tx.task.get(blockerId)
    if (blocker?.status !== 'completed' || blocker.deletedAt !== null || (yield* isPurged(tx, blocker))) continue
    ids.push(blockerId)
  }
  return ids
}

function* copy(
  tx: Tx,
  task: TaskRecord,
  recorded: Recorded,
  point: ForkPoint,
  made: CallRecord | undefined,
  { options, host }: ForkRequest,
): Op<void> {
  const taken = takenOver(recorded, point)
  const entries = made === undefined ? taken.entries : [...taken.entries.filter(({ id }) => id !== made.id), made]
  const names = new NewNames(host, taken.messages, entries)
  let instructions = options.prompt
  for (const message of taken.messages) {
    const isReplaced = message.role === 'system' && !message.announcement && instructions !== undefined
    const content = isReplaced ? (instructions as string) : message.content
    if (isReplaced) instructions = undefined
    yield* tx.message.append({ ...names.message(message), taskId: task.id, content })
  }
  for (const entry of entries) {
    const isCurrent = entry.attempt === recorded.task.attempt || (entry.status === 'completed' && entry.kind !== 'wait')
    // Attempt 0: a failure of an earlier attempt is requested anew, as the original would.
    const place = { taskId: task.id, run: 0, generation: 1, attempt: isCurrent ? 1 : 0 }
    const call = { ...names.entry(entry), ...place }
    yield* tx.call.insert(call)
    if (call.kind !== 'signal' || call.status !== 'completed' || call.result === null) continue
    const { name, createdAt } = call
    yield* tx.signal.insert({ taskId: task.id, name, sentId: null, payload: null, createdAt, takenBy: call.id })
  }
}

/** The ids of the copies, and what is derived from them: the lines about a call, and the identities of the calls of a model. */
class NewNames {
  readonly #ids: Map<string, string>
  readonly #idents = new Map<string, string>()

  constructor(
    { nextId }: Pick<AbilityHost, 'nextId'>,
    messages: readonly MessageRecord[],
    entries: readonly CallRecord[],
  ) {
    this.#ids = new Map(entries.map(({ id }) => [id, nextId('call')]))
    for (const { id, startMessageId, endMessageId } of entries) {
      const call = this.#ids.get(id) as string
      if (startMessageId !== null) this.#ids.set(startMessageId, lineId(call, 'start'))
      if (endMessageId !== null) this.#ids.set(endMessageId, lineId(call, 'end'))
    }
    for (const { id, step: taken } of messages) {
      const copied = this.#ids.get(id) ?? nextId('msg')
      this.#ids.set(id, copied)
      this.#idents.set(identOf(id, null), identOf(copied, null))
      for (const index of (taken?.calls ?? []).keys()) {
        this.#idents.set(identOf(callKeyOf(id, index), null), identOf(callKeyOf(copied, index), null))
      }
    }
  }

  message(message: MessageRecord): MessageRecord {
    const { id, ident, run, generation, step: taken } = message
    return {
      ...message,
      id: this.#of(id),
      ident: ident === null ? null : (this.#idents.get(ident) ?? ident),
      run: run === null ? null : 0,
      generation: generation === null ? null : 1,
      step: taken === null ? null : { ...taken, attempt: 1, inputs: taken.inputs.map((input) => this.#of(input)) },
    }
  }

  entry(entry: CallRecord): CallRecord {
    const { id, ident, parentId, startMessageId, endMessageId, kind, details, result } = entry
    const raced = kind === 'race' ? (details as { entries: string[] }) : undefined
    return {
      ...entry,
      id: this.#of(id),
      ident: this.#idents.get(ident) ?? ident,
      parentId: parentId === null ? null : this.#of(parentId),
      startMessageId: startMessageId === null ? null : this.#of(startMessageId),
      endMessageId: endMessageId === null ? null : this.#of(endMessageId),
      ...(raced !== undefined && {
        details: { entries: raced.entries.map((each) => this.#of(each)) },
        result: this.#of(result as string),
      }),
    }
  }

  #of(id: string): string {
    return this.#ids.get(id) ?? id
  }
}
