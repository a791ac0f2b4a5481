// The composition root: parses the options, opens the ledger, and connects the parts of the engine.

import type { EngineHost } from '../actors/engine-host.ts'
import { followPages } from '../actors/event-stream.ts'
import { followFeed } from '../actors/follower.ts'
import { Lifecycle } from '../actors/lifecycle.ts'
import type { MemoryWork } from '../actors/lifecycle-parts.ts'
import { WorkInHand } from '../actors/work-in-hand.ts'
import { type Agents, createAgents } from '../agents/loop/agents.ts'
import { requireEmbeddingModel } from '../agents/models/embedding-model.ts'
import { ModelRegistry } from '../agents/models/model-registry.ts'
import { offerMirrorHost } from '../board/mirror/mirror-host.ts'
import { type Ability, type AbilityDefinition, defineAbility, isAbility } from '../bus/ability.ts'
import { type Bus, createBus, registerBeforeUse } from '../bus/bus.ts'
import type { Caller } from '../bus/caller.ts'
import { reclaimCalls } from '../commands/reclaim-calls.ts'
import { type Clock, requireRealTimers, systemClock } from '../core/clock.ts'
import { ErrandError } from '../core/errors.ts'
import { createRandomIds, type Ids } from '../core/ids.ts'
import { refuseFault } from '../core/input-gate.ts'
import { parse } from '../core/parse.ts'
import { redactionBy } from '../core/redact.ts'
import { requireRuntime } from '../core/runtime.ts'
import { type AnyExecutor, type DeclaredExecutors, type ExecutorMap, isExecutor } from '../entities/executor.ts'
import { engineOptionsSchema, type ParsedEngineOptions } from '../entities/options.ts'
import { deliveryExecutor } from '../entities/webhook-options.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { openLedger } from '../ledger/open-ledger.ts'
import type { MemoryHost } from '../memory/memory-host.ts'
import { memorySettings } from '../memory/memory-settings.ts'
import { createMemoryWork } from '../memory/memory-work.ts'
import { closeCompleted, completeWorker } from '../memory/team/settled-worker.ts'
import { teamSteps } from '../memory/team/team-steps.ts'
import { createDrafter } from '../operations/drafts/draft.ts'
import { requireExecutors } from '../operations/drafts/known-executors.ts'
import { viewOf } from '../operations/steps/views.ts'
import { PlansRoot } from '../plans/plans-root.ts'
import { fireSchedules } from '../time/fire-schedules.ts'
import { createDelivery } from '../webhooks/delivery.ts'
import { Outbox } from '../webhooks/outbox.ts'
import type { Engine, EngineOptions } from './engine-api.ts'
import { hasUserAbility, type RunBus, registerOnBuses, type WholeHost } from './register-abilities.ts'
import { TaskEngine } from './task-engine.ts'
import { allWings, type Wings } from './wings.ts'

/**
 * `createEngine`, for vocabularies too. The abilities are on the bus as soon as this function has been called, and answer once the engine is
 * open. With a `runBus` the engine's own bus (`engine.bus`) has the engine's abilities and those of
 * the run bus, those of the vocabulary under ids of their own; the run bus has the models and the vocabulary's abilities. Both buses check
 * callers with the same guard.
 */
// oxlint-disable-next-line max-lines-per-function -- The composition root: it connects the parts in their order.
export async function openEngine<const E extends ExecutorMap = DeclaredExecutors>(
  options: EngineOptions<E>,
  runs?: RunBus,
  wings: Wings = new Set(allWings),
): Promise<Engine<E>> {
  requireRuntime()
  const given = parse(engineOptionsSchema, options, 'createEngine')
  const abilities = (given.abilities as Array<Ability | AbilityDefinition>).map(
    (each): Ability => (isAbility(each) ? each : defineAbility(each as Parameters<typeof defineAbility>[0])),
  )
  const parsed = { ...given, executors: { ...executorsOf(abilities), ...given.executors } }
  if (parsed.clock === undefined) requireRealTimers()
  const ownClock = (parsed.clock as Clock | undefined) ?? systemClock
  const inHand = ownClock.join === undefined ? undefined : new WorkInHand()
  let now = (): number => ownClock.now()
  // Engines of several hosts share the time of their ledger.
  const clock: Clock = {
    now: () => now(),
    setTimeout: (fn, timeoutMs, isUpkeep) => {
      inHand?.changed()
      return ownClock.setTimeout(fn, timeoutMs, isUpkeep)
    },
    clearTimeout: (id) => ownClock.clearTimeout(id),
    ...(ownClock.rest === undefined ? {} : { rest: () => ownClock.rest?.() as Promise<void> }),
  }
  const ids = (parsed.ids as Ids | undefined) ?? createRandomIds()
  const bus = (parsed.bus as Bus | undefined) ?? createBus({ clock })
  const runBus = runs?.bus ?? bus
  const isShared = parsed.bus !== undefined || runs !== undefined || abilities.length > 0
  const memory = memorySettings(parsed.memory)
  const embeddingModel = parsed.embeddingModel === undefined ? null : requireEmbeddingModel(parsed.embeddingModel)
  const plansRoot = parsed.plans === undefined ? null : new PlansRoot(parsed.plans.root)
  /** Whether the abilities of the engine are on its bus: before that no program can have registered a model there. */
  let isRegistered = false
  /** Asks the bus only once something is registered: the question alone would make all the abilities of the engine. */
  const isUsers = (abilityId: string): boolean => (isRegistered || isShared) && hasUserAbility(runBus, abilityId)
  const agents = wings.has('agents') ? createAgents(parsed, () => isUsers('model:llm')) : onlyExecutors(parsed)
  const { executors } = agents
  if (parsed.webhooks.length > 0) addDelivery(executors, createDelivery(parsed.webhooks, clock))
  requireExecutors(Object.keys(parsed.limits), [...executors.keys()], 'limits')
  const redaction = redactionBy(parsed.redact)
  const drafter = createDrafter(parsed, executors, ids, redaction)

  const opened = Promise.withResolvers<{ engine: TaskEngine; life: Lifecycle; host: WholeHost }>()
  opened.promise.catch(() => {})
  let life: Lifecycle | undefined
  let engine: TaskEngine | undefined
  const host: WholeHost = {
    models: agents.models,
    memory,
    embeddingModel,
    modelIdleTimeoutMs: parsed.modelIdleTimeoutMs,
    plansRoot,
    engineFor: async (caller: Caller) => {
      const { engine } = await opened.promise
      return TaskEngine.within(engine, caller) as unknown as Engine
    },
    step: async (step) => (await opened.promise).host.step(step),
    wakingStep: async (step) => (await opened.promise).host.wakingStep(step),
    create: async (step, trees) => (await opened.promise).host.create(step, trees),
    views: async (records) => (await opened.promise).host.views(records),
    view: async (taskId) => (await opened.promise).host.view(taskId),
    read: async (query) => (await opened.promise).host.read(query),
    stepContext: async () => (await opened.promise).life.stepContext(),
    clock,
    redaction,
    ownMetrics: async () => (await opened.promise).life.ownMetrics(),
    executors: () => [...executors.keys()].filter((name) => agents.canRun(name) !== 'none').sort(),
    inputOf: (name) => {
      const executor = executors.get(name)
      return isExecutor(executor) ? executor.input : undefined
    },
    moved: async (signal) => {
      const { life } = await opened.promise
      life.requireOpen()
      await life.feed.moved(signal)
    },
    admitted: async () => (await opened.promise).life.supervisor.looked(),
    async *pages(options) {
      const { life } = await opened.promise
      life.requireOpen()
      yield* followPages(life.ledger, life.feed, { ...options, follow: true })
    },
    wake: async () => (await opened.promise).life.feed.changed(),
    nextId: (prefix) => ids.next(prefix),
    whileClosing: () => opened.promise.then(whileClosing),
    embed: (texts) => embedOnBus(bus, texts),
    report: (error, context) => void opened.promise.then(({ life }) => life.report(error, context)).catch(() => {}),
    drafter,
    isWorking: () => life?.supervisor.isWorking ?? false,
    lostRuns: async () => (await opened.promise).life.lostRuns(),
    lifeOf: async (instanceId) => (await opened.promise).life.ledger.isAlive(instanceId),
    latestPieceAt: (taskId) => life?.latestPieceAt.get(taskId),
    canRun: agents.canRun,
    offeredModels: agents.offeredModels,
    offersModel: agents.offersModel,
  }
  // A model may be registered later: tasks that wait for one are admitted then.
  const modelRegistered = (): void => {
    agents.addDefaultAgent()
    void opened.promise.then(({ life }) => life.supervisor.wake()).catch(() => {})
  }
  agents.models.onRegister(modelRegistered)
  const register = (): (() => void) => {
    const unregisterAll = registerOnBuses(bus, host, abilities, wings, runs)
    isRegistered = true
    const stopListening = runBus.onRegister(({ id }) => {
      if (id === 'model:llm') modelRegistered()
    })
    return () => {
      stopListening()
      unregisterAll()
    }
  }
  const unregister = isShared ? register() : registerBeforeUse(bus, register)

  const ownsLedger = typeof parsed.ledger === 'string'
  /** A host for work that must still be done while the engine closes and accepts no new operations. */
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
    const redacting = redaction.isOn
      ? (await import('../ledger/redacting-ledger.ts')).redactingLedger(plain, redaction)
      : plain
    const ledger = inHand?.counted(redacting) ?? redacting
    now = ledger.now ?? now
    const memoryWork = (working: EngineHost): MemoryWork =>
      createMemoryWork(working, {
        readTask: runs?.readTask ?? ((tx, { id }) => viewOf(tx, id)),
        accepts: (id) => isUsers(id) || (memory.archive && runBus.has(id)),
        completeAgent: (stint, summary) => completeWorker(whileClosing(), stint, summary),
        closeTeam: (team, summary) => closeCompleted(whileClosing(), team, summary),
      })
    life = new Lifecycle({
      engine: () => engine as TaskEngine,
      ledger,
      ownsLedger,
      clock,
      ids,
      executors,
      bus: runBus,
      modelFor: agents.modelFor,
      describeModel: agents.describeModel,
      offeredModels: agents.offeredModels,
      canRun: agents.canRun,
      options: parsed,
      redaction,
      treeLimits: drafter.treeLimits,
      draft: (specs, parentId) =>
        specs.map((spec) => {
          refuseFault(spec, 'run.spawn')
          return drafter.draft(spec, 'run.spawn', parentId)
        }),
      reclaim: wings.has('commands') ? reclaimCalls : async () => [],
      fireSchedules: wings.has('time') ? fireSchedules : async () => false,
      teams: wings.has('memory') ? teamSteps : undefined,
      memory: wings.has('memory') ? memoryWork : undefined,
      outbox: (working) =>
        parsed.webhooks.length > 0 ? new Outbox(parsed.webhooks, { ...working, drafter }) : undefined,
      closing: () => inHand?.leave(),
      closed: unregister,
    })
    const workingHost = openHost(host, life)
    engine = new TaskEngine(life, workingHost, bus)
    if (wings.has('board')) offerMirrorHost(engine, mirrorHostOf(host, life))
    await life.open()
    inHand?.join(ownClock, life)
    opened.resolve({ engine, life, host: workingHost })
    if (parsed.work) await life.work()
    return engine as unknown as Engine<E>
  } catch (error) {
    opened.reject(error)
    if (runs?.onFailed === undefined) unregister()
    else runs.onFailed(unregister)
    await life?.close()
    throw unwritable(error)
  }
}

/** @throws ErrandError INVALID_INPUT for an executor of the program under its name. */
function addDelivery(executors: Agents['executors'], delivery: AnyExecutor): void {
  if (executors.has(deliveryExecutor)) {
    throw new ErrandError(
      'INVALID_INPUT',
      `An engine with \`webhooks\` has an executor ${deliveryExecutor} of its own, which posts them. Give yours another name.`,
      { executor: deliveryExecutor },
    )
  }
  executors.set(deliveryExecutor, delivery)
}

/** An engine without models runs the executors that it was given. */
function onlyExecutors(options: ParsedEngineOptions): Agents {
  const executors = new Map(Object.entries(options.executors)) as Agents['executors']
  return {
    executors,
    models: new ModelRegistry({}),
    canRun: (name) => (executors.has(name) ? 'all' : 'unknown'),
    addDefaultAgent: () => {},
    offeredModels: () => [],
    offersModel: () => false,
    modelFor: () => undefined,
    describeModel: () => ({}),
  }
}

function mirrorHostOf(host: WholeHost, { ledger, feed, report }: Lifecycle): Parameters<typeof offerMirrorHost>[1] {
  return {
    ...host,
    ledgerName: ledger.name,
    follow: (after, signal) => followFeed(feed, after, 'follow the board').pages(signal),
    register: (id) => ledger.register(id),
    isAlive: (id) => ledger.isAlive(id),
    unregister: (id) => ledger.unregister(id),
    report,
  }
}

/** The host of an open engine. */
function openHost(host: WholeHost, life: Lifecycle): WholeHost {
  return {
    ...host,
    step: (step) => life.step(step),
    wakingStep: (step) => life.wakingStep(step),
    create: (step, trees) => life.create(step, trees),
    read: (query) => life.read(query),
    view: (taskId) => life.ledger.read((tx) => viewOf(tx, taskId)),
    views: (records) => life.views(records),
  }
}

/** An engine that cannot write its row has not started, so it does not matter whether that write was stored. */
function unwritable(error: unknown): unknown {
  if (!ErrandError.isInstance(error) || !['OUTCOME_UNKNOWN', 'LEDGER_WRITE_FAILED'].includes(error.code)) return error
  const reason = error.cause instanceof Error ? error.cause.message : error.message
  return new ErrandError(
    'LEDGER_UNAVAILABLE',
    `The engine cannot start, because the ledger cannot be written: ${reason}. Check the disk and its free space, then try again.`,
    {},
    error,
  )
}

/** The executors that come with abilities. */
function executorsOf(abilities: readonly Ability[]): ExecutorMap {
  return Object.assign({}, ...abilities.map(({ executors }) => executors)) as ExecutorMap
}

/** Calls `model:embed`, which the engine's embedding model or an ability of the user answers. */
async function embedOnBus(bus: Bus, texts: readonly string[]): Promise<unknown> {
  if (bus.has('model:embed')) return bus.call('model:embed', { texts: [...texts] }, { caller: { surface: 'engine' } })
  throw new ErrandError(
    'NO_MODEL',
    "Facts are compared by their embeddings (`memory.similarity: 'embeddings'`), but no ability `model:embed` is registered. Give `createEngine` an `embeddingModel`, or an ability with that id.",
    { abilityId: 'model:embed' },
  )
}
