// The composition root: options are parsed, the ledger is opened, and the engine's parts are introduced to each other.
import type { AbilityHost } from './abilities/ability-host.ts'
import { hasUserAbility, registerAbilities } from './abilities/register-abilities.ts'
import { followPages } from './actors/event-stream.ts'
import { Lifecycle } from './actors/lifecycle.ts'
import { engineOptionsSchema } from './api/options.ts'
import { offerMirrorHost } from './board/mirror/mirror-host.ts'
import { type Ability, type AbilityDefinition, defineAbility, isAbility } from './bus/ability.ts'
import { type Bus, createBus } from './bus/bus.ts'
import type { Caller } from './bus/caller.ts'
import { forwardAbilities } from './bus/forward.ts'
import { type Clock, systemClock } from './core/clock.ts'
import { ErrandError } from './core/errors.ts'
import { createRandomIds, type Ids } from './core/ids.ts'
import { parse } from './core/parse.ts'
import { redactionBy } from './core/redact.ts'
import { requireRuntime } from './core/runtime.ts'
import { createDrafter } from './drafts/draft.ts'
import { requireExecutors } from './drafts/known-executors.ts'
import type { Engine, EngineOptions, Executors } from './engine-api.ts'
import type { CallRecord } from './entities/call.ts'
import type { TaskRecord } from './entities/task.ts'
import { createAgents } from './executors/agent/agents.ts'
import { processGroupOf, reclaimAll } from './executors/process-group.ts'
import { markOf } from './executors/process-mark.ts'
import type { Ledger, Op, Reads } from './ledger/ledger.ts'
import { openLedger } from './ledger/open-ledger.ts'
import { redactingLedger } from './ledger/redacting-ledger.ts'
import type { MemoryHost } from './memory/memory-host.ts'
import { memorySettings } from './memory/memory-settings.ts'
import { requireEmbeddingModel } from './models/embedding-model.ts'
import { requireWithin } from './steps/conditions.ts'
import { viewOf } from './steps/views.ts'
import { TaskEngine } from './task-engine.ts'
import { closeCompleted, completeWorker } from './team/settled-worker.ts'

/**
 * Opens a ledger and an engine on it; with `work` (the default) it recovers what dead engines left and begins. Its abilities
 * stand on the bus as soon as this function has been called, and answer once the engine is open.
 *
 * @example
 * await using engine = await createEngine({ ledger: 'errand.db', executors: { greet: (task) => `Hello ${task.input.name}` } })
 * const task = await engine.create({ executor: 'greet', input: { name: 'Ada' } })
 * console.log(await engine.result(task))
 *
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT for bad options; ALREADY_REGISTERED for an ability that is on the bus;
 *   UNSUPPORTED_RUNTIME; LEDGER_* and NOT_OFFERED for a ledger that cannot be opened.
 */
export function createEngine<const E extends Executors = Executors>(
  options: EngineOptions<E> = {},
): Promise<Engine<E>> {
  return openEngine(options)
}

/** A bus of a vocabulary, on which the runs of an engine call abilities, in place of the engine's own. */
export interface RunBus {
  bus: Bus
  /** What the vocabulary offers there in its own words: it stands on no other bus. */
  abilities(host: AbilityHost): readonly Ability[]
  /** A task as abilities of memory get it. */
  readTask(tx: Reads, task: TaskRecord): Op<object>
}

/**
 * `createEngine`, for vocabularies too. With a `runBus` the engine's own bus (`engine.bus`) has the engine's abilities and those of
 * the run bus; the run bus has the models and what the vocabulary offers. On both callers are judged alike.
 */
export async function openEngine<const E extends Executors = Executors>(
  options: EngineOptions<E>,
  runs?: RunBus,
): Promise<Engine<E>> {
  requireRuntime()
  const given = parse(engineOptionsSchema, options, 'createEngine')
  const abilities = (given.abilities as Array<Ability | AbilityDefinition>).map(
    (each): Ability => (isAbility(each) ? each : defineAbility(each as Parameters<typeof defineAbility>[0])),
  )
  const parsed = { ...given, executors: { ...broughtBy(abilities), ...given.executors } }
  const clock = (parsed.clock as Clock | undefined) ?? systemClock
  const ids = (parsed.ids as Ids | undefined) ?? createRandomIds()
  const bus = (parsed.bus as Bus | undefined) ?? createBus({ clock })
  const runBus = runs?.bus ?? bus
  const memory = memorySettings(parsed.memory)
  const embeddingModel = parsed.embeddingModel === undefined ? null : requireEmbeddingModel(parsed.embeddingModel)
  const agents = createAgents(parsed, () => hasUserAbility(runBus, 'model:llm'))
  const { executors } = agents
  requireExecutors(Object.keys(parsed.limits), [...executors.keys()], 'limits')
  const redaction = redactionBy(parsed.redact)
  const drafter = createDrafter(parsed, executors, ids, redaction)

  const opened = Promise.withResolvers<{ engine: TaskEngine; life: Lifecycle; host: AbilityHost }>()
  opened.promise.catch(() => {})
  let life: Lifecycle | undefined
  const host: AbilityHost = {
    models: agents.models,
    memory,
    embeddingModel,
    engineFor: async (caller: Caller) => {
      const { engine } = await opened.promise
      return TaskEngine.within(engine, caller) as unknown as Engine
    },
    step: async (step) => (await opened.promise).host.step(step),
    views: async (records) => (await opened.promise).host.views(records),
    view: async (taskId) => (await opened.promise).host.view(taskId),
    read: async (query) => (await opened.promise).host.read(query),
    stepContext: async () => (await opened.promise).life.stepContext(),
    clock,
    redaction,
    executors: () => [...executors.keys()].filter((name) => agents.canRun(name) !== 'none').sort(),
    moved: async (signal) => {
      const { life } = await opened.promise
      life.requireOpen()
      await life.feed.moved(signal)
    },
    async *pages(options) {
      const { life } = await opened.promise
      life.requireOpen()
      yield* followPages(life.ledger, life.feed, { ...options, follow: true })
    },
    stir: async () => (await opened.promise).life.feed.stirred(),
    nextId: (prefix) => ids.next(prefix),
    whileClosing: () => opened.promise.then(whileClosing),
    embed: (texts) => embedOnBus(bus, texts),
    report: (error, context) => void opened.promise.then(({ life }) => life.report(error, context)).catch(() => {}),
    drafter,
    isWorking: () => life?.supervisor.isWorking ?? false,
    canRun: agents.canRun,
    offeredModels: agents.offeredModels,
    offersModel: agents.offersModel,
  }
  const leaveTheBuses = takeToTheBuses(bus, runBus, host, abilities, runs?.abilities(host) ?? [])
  // Whoever brings a model may come later: goals that wait for one are taken up then.
  const modelCame = (): void => {
    agents.equip()
    void opened.promise.then(({ life }) => life.supervisor.wake()).catch(() => {})
  }
  agents.models.onRegister(modelCame)
  const listenNoMore = runBus.onRegister(({ id }) => {
    if (id === 'model:llm') modelCame()
  })

  const ownsLedger = typeof parsed.ledger === 'string'
  /** What runs have left is dealt with while the engine closes, too, when it takes nothing new any more. */
  const whileClosing = (): MemoryHost => {
    const working = life as Lifecycle
    return {
      ...host,
      step: (step) => working.withRetry(step),
      read: (query) => working.ledger.read(query),
      stepContext: async () => working.stepContext(),
    }
  }
  try {
    const plain = ownsLedger ? await openLedger(parsed.ledger as string) : (parsed.ledger as Ledger)
    const ledger = redaction.isOn ? redactingLedger(plain, redaction) : plain
    life = new Lifecycle({
      ledger,
      ownsLedger,
      clock,
      ids,
      executors,
      bus: runBus,
      modelFor: agents.modelFor,
      offeredModels: agents.offeredModels,
      canRun: agents.canRun,
      options: parsed,
      redaction,
      treeLimits: drafter.treeLimits,
      draft: (specs, parentId) => specs.map((spec) => drafter.draft(spec, 'run.spawn', parentId)),
      reclaim: reclaimProcesses,
      readTask: runs?.readTask ?? ((tx, { id }) => viewOf(tx, id)),
      memoryWants: (id) => hasUserAbility(runBus, id) || (memory.archive && runBus.has(id)),
      teamWork: {
        completeAgent: (stint, summary) => completeWorker(whileClosing(), stint, summary),
        closeTeam: (team, summary) => closeCompleted(whileClosing(), team, summary),
      },
      closed: () => {
        listenNoMore()
        leaveTheBuses()
      },
    })
    const workingHost = openHost(host, life)
    const engine = new TaskEngine(life, workingHost, bus)
    offerMirrorHost(engine, {
      ...host,
      clock,
      ledgerName: ledger.name,
      events: (stream) => engine.events(stream),
      register: (id) => ledger.register(id),
      isAlive: (id) => ledger.isAlive(id),
      unregister: (id) => ledger.unregister(id),
      report: life.report,
    })
    await life.open()
    opened.resolve({ engine, life, host: workingHost })
    if (parsed.work) await life.work()
    return engine as unknown as Engine<E>
  } catch (error) {
    opened.reject(error)
    listenNoMore()
    leaveTheBuses()
    await life?.close()
    throw unwritable(error)
  }
}

/** The host of an engine that is open: its steps are queued in the order in which they are asked for. */
function openHost(host: AbilityHost, life: Lifecycle): AbilityHost {
  return {
    ...host,
    async step(step) {
      life.requireOpen()
      return life.ledger.step(step)
    },
    read: (query) => life.read(query),
    view: (taskId) => life.ledger.read((tx) => viewOf(tx, taskId)),
    views: (records) => life.views(records),
  }
}

/** An engine that cannot write its row has not begun: the outcome of that step does not matter. */
function unwritable(error: unknown): unknown {
  if (!ErrandError.isInstance(error) || !['OUTCOME_UNKNOWN', 'LEDGER_WRITE_FAILED'].includes(error.code)) return error
  const reason = error.cause instanceof Error ? error.cause.message : error.message
  return new ErrandError(
    'LEDGER_UNAVAILABLE',
    `The engine cannot begin, because the ledger cannot be written: ${reason}. Check the disk and the space left on it, then try again.`,
    {},
    error,
  )
}

/** The executors that abilities bring along. */
function broughtBy(abilities: readonly Ability[]): Executors {
  return Object.assign({}, ...abilities.map(({ executors }) => executors)) as Executors
}

/**
 * Registers what the engine, its options and its vocabulary offer, and judges who may touch which task; returns how to take it all
 * off again.
 */
function takeToTheBuses(
  bus: Bus,
  runBus: Bus,
  host: AbilityHost,
  given: readonly Ability[],
  vocabulary: readonly Ability[],
): () => void {
  const taken: Array<() => void> = []
  const leave = (): void => {
    for (const each of taken.splice(0)) each()
  }
  try {
    for (const ability of [...given, ...vocabulary]) taken.push(runBus.register(ability))
    taken.push(registerAbilities(bus, host, runBus))
    if (runBus !== bus) taken.push(forwardAbilities(runBus, bus, new Set(vocabulary)))
    for (const each of new Set([bus, runBus])) {
      taken.push(each.useGuard(({ taskId }, named) => host.read((tx) => requireWithin(tx, taskId as string, named))))
    }
    return leave
  } catch (error) {
    leave()
    throw error
  }
}

/** Whoever answers `model:embed`: the engine's own model, or an ability of the embedder's. */
async function embedOnBus(bus: Bus, texts: readonly string[]): Promise<unknown> {
  if (bus.has('model:embed')) return bus.call('model:embed', { texts: [...texts] }, { caller: { surface: 'engine' } })
  throw new ErrandError(
    'NO_MODEL',
    "Facts are compared by their embeddings (`memory.similarity: 'embeddings'`), and nothing answers `model:embed`. Give `createEngine` an `embeddingModel`, or an ability with that id.",
    { abilityId: 'model:embed' },
  )
}

/**
 * Ends the commands that calls left running when their process died. Resolves with the calls whose processes, if they are
 * theirs, still run; rejects when one is provably theirs and cannot be ended.
 */
async function reclaimProcesses(calls: readonly CallRecord[]): Promise<CallRecord[]> {
  // The details of a call that failed may no longer name its group; its processes show its id all the same.
  const outcomes = await reclaimAll(calls.map(({ id, details }) => processGroupOf(details) ?? { mark: markOf(id) }))
  return calls.filter((_call, index) => outcomes[index] === 'unproven')
}
