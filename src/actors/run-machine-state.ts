// The machine of a live run: its stored situation, what arrives for it, and the step that writes the next one.
import { Failure } from '../core/errors.ts'
import { issuesIn, issueText, safeParse } from '../core/parse.ts'
import type { CallRecord } from '../entities/call.ts'
import {
  type MachineActor,
  type MachineDetails,
  type MachinePlace,
  type MachineState,
  machineStateSchema,
  nextTimer,
} from '../entities/machine.ts'
import type { QuestionParams } from '../entities/question.ts'
import type { NewCall, Step } from '../ledger/ledger.ts'
import { machineToStore } from '../ledger/redacted-content.ts'
import type { WaitParams } from '../machines/family.ts'
import type { TaskDraft } from '../operations/drafts/draft.ts'
import type { MachineChange, MachineQuestion, MachineRun, StartedMachine } from '../operations/machine-run.ts'
import { matchingOutside, toAnswerSchema } from '../operations/steps/answer-schema.ts'
import {
  type Arrivals,
  arrivalsOf,
  type ChildMachine,
  type MachineStep,
  writeMachine,
} from '../operations/steps/machine.ts'
import { sendToTask } from '../operations/steps/signal.ts'
import type { StepContext } from '../operations/steps/step-context.ts'
import type { RunCore } from './run-core.ts'
import type { RunWaits } from './run-waits.ts'

export class RunMachineState implements MachineRun {
  readonly #core: RunCore
  readonly #waits: RunWaits
  /** As it is stored; undefined before the first step, and in an attempt that follows a failed one. */
  #entry: NewCall | undefined
  readonly #found: CallRecord | undefined
  #since: number | undefined

  constructor(core: RunCore, waits: RunWaits) {
    this.#core = core
    this.#waits = waits
    this.#found = core.journal.latest('machine')
    if (this.#found?.status === 'pending') this.#entry = this.#found
    this.#since = (this.#found?.details as MachineDetails | null | undefined)?.since
    // The situation says what the machine still asks for.
    core.journal.takeAll()
  }

  get taskId(): string {
    return this.#core.taskId
  }

  get place(): MachineRun['place'] {
    const { policy, parentId } = this.#core.task
    return policy.machine === undefined || parentId === null ? undefined : { ...policy.machine, parentId }
  }

  now(): number {
    return this.#core.host.stepContext().at
  }

  stored(): MachineState | undefined {
    if (this.#found === undefined) return undefined
    const parsed = safeParse(machineStateSchema(), (this.#found.details as MachineDetails | null)?.state)
    if (parsed.success) return this.#withStandingAsk(parsed.data as MachineState)
    const why = issueText(issuesIn(parsed.error).slice(0, 3))
    throw new Failure(
      `The situation of the machine cannot be read: ${why}. It was written by another version of errand, or changed by hand: \`errand ledger check\` looks for damage.`,
      { code: 'INVALID_RESULT', retry: false },
    )
  }

  get isClosed(): boolean {
    return this.#entry === undefined
  }

  /** A question that was withdrawn with an attempt is asked again; one that was answered is not. */
  #withStandingAsk({ ask, ...state }: MachineState): MachineState {
    if (ask === undefined) return state
    const isStanding = !this.isClosed || this.#core.journal.withId(ask.callId)?.status === 'completed'
    return isStanding ? { ...state, ask } : state
  }

  show(config: object, state: MachineState | undefined): void {
    const { host, taskId, ref } = this.#core
    host.actors.machines.open(taskId, ref.run, config, state)
  }

  arrivals(state: MachineState): Promise<Arrivals> {
    const actors = Object.values(state.actors)
    const waits = actors.flatMap(({ waitId, ended }) => (waitId === undefined || ended ? [] : [waitId]))
    if (state.ask !== undefined) waits.push(state.ask.callId)
    const machines = actors.flatMap(({ taskId }) => taskId ?? [])
    const { host, taskId } = this.#core
    // In flight: when it is over, a run that only waits may lend its slot.
    return this.#core.request(() => this.#core.busy(() => host.read((tx) => arrivalsOf(tx, taskId, waits, machines))))
  }

  write(change: MachineChange): Promise<MachineState> {
    const core = this.#core
    return core.request(() =>
      core.busy(async () => {
        const given = this.#stepOf(change)
        const { host } = core
        const children = given.children.flatMap(({ trees }) => trees)
        const step = writeMachine(core.ref, given, host.stepContext())
        const writing = matchingOutside(() => core.step(step))
        if (children.length > 0) host.admitWithCreation(writing, children, core.taskId)
        await writing
        this.#entry = given.entry
        if (given.details.next !== null) host.timerSet()
        return given.details.state
      }),
    )
  }

  rest(change: MachineChange): void {
    this.#core.restWith(this.#stepOf(change))
  }

  #stepOf(change: MachineChange): MachineStep {
    const core = this.#core
    const ctx = core.host.stepContext()
    const children = change.starts.map((started) => this.#child(started))
    const question = change.question === null ? undefined : this.#question(change.question)
    const state = machineToStore(core.host.redaction, withIds(change.state, children, change.question, question))
    const waits = this.#entry === undefined && this.#found !== undefined ? this.#waitAgain(state, change.before) : []
    const entry = this.#entry ?? core.entryOf(core.describe('machine', 'machine', null, 'machine'))
    const { ends, stops } = leftBy(change.before, state)
    core.host.actors.machines.offer(core.taskId, core.ref.run, state)
    return {
      entry,
      isNew: this.#entry === undefined,
      details: { state, accepts: change.accepts, next: nextTimer(state) },
      // A step that only opens the entry again makes nothing of an earlier attempt superfluous.
      since: this.isClosed || isPromiseLeft(change.before, state) ? this.#since : undefined,
      takes: change.takes,
      event: change.event,
      ends,
      stops,
      children: children.map(({ child }) => child),
      treeLimits: core.host.treeLimits,
      waits,
      sends: sendsOf(change.sends, state, ctx),
      emitted: change.emitted,
      logged: change.logged,
      question,
    }
  }

  arrival(): { arrived: Promise<void>; cancel(): void } {
    const { arrived, cancel } = this.#waits.forMachine((this.#entry as NewCall).id)
    return { arrived: this.#core.request(() => arrived), cancel }
  }

  #child({ id, input, place }: StartedMachine): { id: string; taskId: string; child: ChildMachine } {
    const { task, host, taskId } = this.#core
    const spec = {
      name: id,
      executor: task.executor,
      autoStart: true,
      ...(input === undefined ? {} : { input }),
      ...(task.policy.onInterrupt === undefined ? {} : { onInterrupt: task.policy.onInterrupt }),
      // Its parent decides what follows from its failure.
      retry: { maxAttempts: 1 },
    }
    const trees = host.draft([spec], taskId).map((tree) => tree.map((draft) => asActor(draft, place)))
    const childId = trees[0]?.[0]?.id as string
    return { id, taskId: childId, child: { trees, wait: this.#waitFor(childId) } }
  }

  /** A new attempt waits again for the machines that have not ended: its waits ended with the attempt before. */
  #waitAgain(state: MachineState, before: MachineState | undefined): NewCall[] {
    const waits: NewCall[] = []
    for (const [id, actor] of Object.entries(state.actors)) {
      if (actor.taskId === undefined || actor.ended || before?.actors[id]?.taskId !== actor.taskId) continue
      const wait = this.#waitFor(actor.taskId)
      state.actors[id] = { ...actor, waitId: wait.id }
      waits.push(wait)
    }
    return waits
  }

  #waitFor(childId: string): NewCall {
    const params = { tasks: [childId], mode: 'all', settled: true } satisfies WaitParams
    return this.#core.entryOf(this.#core.describe('wait', 'wait', params, `machine:${childId}`))
  }

  #question({ question, schema, for: audience, state }: MachineQuestion): NewCall {
    const params: QuestionParams = { question, schema: toAnswerSchema(schema), for: audience }
    const key = `machine:${state}:${this.#core.host.nextId('ask')}`
    return this.#core.entryOf(this.#core.describe('ask', 'ask', params, key))
  }
}

/** What its failure means is up to its parent, so no handler of failures is called for it. */
function asActor(draft: TaskDraft, place: MachinePlace): TaskDraft {
  const { failure: _ofParent, ...handlers } = draft.policy.handlers ?? {}
  return { ...draft, policy: { ...draft.policy, handlers, machine: place } }
}

function sendsOf(sends: MachineChange['sends'], { actors }: MachineState, ctx: StepContext): Array<Step<unknown>> {
  return sends.flatMap((send) => {
    const taskId = 'actor' in send ? actors[send.actor]?.taskId : send.taskId
    return taskId === undefined ? [] : [sendToTask(taskId, send.event, ctx)]
  })
}

function withIds(
  state: MachineState,
  children: ReadonlyArray<{ id: string; taskId: string; child: ChildMachine }>,
  given: MachineQuestion | null,
  question: NewCall | undefined,
): MachineState {
  const actors: Record<string, MachineActor> = { ...state.actors }
  for (const { id, taskId, child } of children) {
    actors[id] = { ...(actors[id] as MachineActor), taskId, waitId: child.wait.id }
  }
  const ask =
    given === null || question === undefined
      ? state.ask
      : { state: given.state, event: given.event, callId: question.id }
  const { ask: _before, ...rest } = state
  return { ...rest, actors, ...(ask === undefined ? {} : { ask }) }
}

/** The waits and questions that the new situation has no more, or whose end it has got, and the tasks of machines that were stopped. */
function leftBy(before: MachineState | undefined, after: MachineState): { ends: string[]; stops: string[] } {
  const ends: string[] = []
  const stops: string[] = []
  for (const [id, actor] of Object.entries(before?.actors ?? {})) {
    if (actor.waitId === undefined) continue
    const now = after.actors[id]
    const isGone = now?.gen !== actor.gen
    if (isGone && actor.taskId !== undefined) stops.push(actor.taskId)
    if (!actor.ended && (isGone || now.ended)) ends.push(actor.waitId)
  }
  if (before?.ask !== undefined && before.ask.callId !== after.ask?.callId) ends.push(before.ask.callId)
  return { ends, stops }
}

/** Whether an actor goes on whose call is in the journal. */
function isPromiseLeft(before: MachineState | undefined, after: MachineState): boolean {
  return Object.entries(before?.actors ?? {}).some(([id, { gen, taskId }]) => {
    const now = after.actors[id]
    return taskId === undefined && now?.gen === gen && !now.ended
  })
}
