// What may happen to two engines, as data that fast-check draws and shrinks, and how each command is executed.
import fc from 'fast-check'
import type { CreateOptions, Engine } from '../../../src/engine/engine-api.ts'
import type { Run } from '../../../src/entities/executor.ts'
import { type Host, refusal, turns, type World } from './world.ts'

export const tick = 10

const policies = {
  onChildFailure: [undefined, undefined, 'ignore', 'fail', 'cancel-siblings'],
  onDependencyFailure: [undefined, undefined, 'block', 'cancel', 'ignore'],
} as const
const kinds = ['run', 'run', 'narrow', 'by hand', 'group'] as const
const verbs = [
  'start',
  'pause',
  'resume',
  'cancel',
  'retry',
  'complete',
  'fail',
  'answer',
  'delete',
  'delete all',
  'block',
  'unblock',
] as const
const claims = ['claim', 'claim any', 'heartbeat', 'complete', 'fail', 'release'] as const
const doings = ['return', 'throw', 'ask', 'sleep', 'spawn', 'wait', 'wait for any', 'release'] as const
const limits = ['shared', 'shared narrow', 'engine', 'engine narrow'] as const

const host = fc.nat({ max: 1 })
const task = fc.nat({ max: 7 })
const rarely = fc.integer({ min: 0, max: 4 }).map((drawn) => drawn === 4)

const commands = {
  create: fc.record({
    do: fc.constant('create' as const),
    host,
    kind: fc.constantFrom(...kinds),
    /** Of the children of a group, too. */
    policy: fc.record({
      onChildFailure: fc.constantFrom(...policies.onChildFailure),
      onDependencyFailure: fc.constantFrom(...policies.onDependencyFailure),
      autoComplete: rarely,
      retry: rarely,
      timeout: rarely,
      deadline: rarely,
      held: rarely,
      concurrency: rarely,
      stubborn: rarely,
    }),
    priority: fc.nat({ max: 2 }),
    parent: fc.option(task, { freq: 1 }),
    after: fc.option(task, { freq: 1 }),
  }),
  verb: fc.record({ do: fc.constant('verb' as const), host, verb: fc.constantFrom(...verbs), task, other: task }),
  claim: fc.record({
    do: fc.constant('claim' as const),
    host,
    what: fc.constantFrom(...claims),
    task,
    /** Which of the claims so far, latest first. */
    claim: fc.nat({ max: 2 }),
    lease: fc.boolean(),
  }),
  executor: fc.record({ do: fc.constant('executor' as const), doing: fc.constantFrom(...doings), run: task }),
  time: fc.record({ do: fc.constant('time' as const), ms: fc.constantFrom(tick, tick, 5 * tick, 300, 1_200) }),
  hang: fc.record({ do: fc.constant('hang' as const), host }),
  wake: fc.record({ do: fc.constant('wake' as const), host }),
  crash: fc.record({ do: fc.constant('crash' as const), host }),
  restart: fc.record({ do: fc.constant('restart' as const), host }),
  limit: fc.record({
    do: fc.constant('limit' as const),
    host,
    which: fc.constantFrom(...limits),
    limit: fc.constantFrom(null, 1, 2, 3),
  }),
}
type Commands = { [K in keyof typeof commands]: (typeof commands)[K] extends fc.Arbitrary<infer C> ? C : never }
export type Command = Commands[keyof Commands]

/** After a command: continue at once, wait for its answer, or wait until the engines have had a few turns. */
export type Pace = 'at once' | 'answered' | 'turns'

const commandArbitrary: fc.Arbitrary<Command> = fc.oneof(
  { weight: 9, arbitrary: commands.create },
  { weight: 9, arbitrary: commands.verb },
  { weight: 7, arbitrary: commands.claim },
  { weight: 9, arbitrary: commands.executor },
  { weight: 4, arbitrary: commands.time },
  { weight: 2, arbitrary: commands.hang },
  { weight: 1, arbitrary: commands.wake },
  { weight: 1, arbitrary: commands.crash },
  { weight: 1, arbitrary: commands.restart },
  { weight: 2, arbitrary: commands.limit },
)

export const sequenceArbitrary = fc.array(
  fc.tuple(commandArbitrary, fc.constantFrom<Pace[]>('at once', 'answered', 'turns', 'turns')),
  { minLength: 3, maxLength: 24, size: 'max' },
)

/** Refusals by rule. Anything else is a failure of the property. */
const refusals = new Set([
  'INVALID_TRANSITION',
  'INVALID_ANSWER',
  'NO_QUESTION',
  'NOT_FOUND',
  'PARENT_CLOSED',
  'CYCLE',
  'BLOCKED',
  'NOT_CLAIMABLE',
  'NOT_OWNER',
  'STALE_CLAIM',
  'ENGINE_CLOSED',
])

interface Claim {
  taskId: string
  owner: string
  fence: number
}

/** Plays commands into a world; one for each sequence. */
export class Player {
  readonly #world: World
  readonly #claims: Claim[] = []
  #count = 0

  constructor(world: World) {
    this.#world = world
  }

  /** Resolves when the command has been answered, or can no longer be. */
  async play(command: Command): Promise<void> {
    this.#count++
    const deaths = this.#world.hosts.map((host) => host.died)
    try {
      await Promise.race([this.#issue(command), ...deaths])
    } catch (error) {
      const code = refusal(error)
      if (!refusals.has(code)) throw error
    }
  }

  #issue(command: Command): Promise<unknown> | undefined {
    const world = this.#world
    switch (command.do) {
      case 'create':
        return this.#create(command)
      case 'verb':
        return this.#verb(command)
      case 'claim':
        return this.#claim(command)
      case 'executor':
        return this.#act(command)
      case 'limit':
        return this.#limit(command)
      case 'time':
        return passTime(world, command.ms)
      case 'hang':
        this.#host(command.host).hang()
        return
      case 'wake':
        this.#host(command.host).wake()
        return
      case 'crash':
        this.#host(command.host).crash()
        return
      case 'restart':
        this.#host(command.host).restart()
        return
    }
  }

  #host(number: number): Host {
    return this.#world.hosts[number as 0 | 1]
  }

  #task(number: number): string | undefined {
    const { ids } = this.#world.audit
    return ids.length === 0 ? undefined : ids[number % ids.length]
  }

  #create(command: Commands['create']): Promise<unknown> | undefined {
    const engine = this.#world.engine(command.host)
    if (engine === undefined) return
    const { kind, policy } = command
    const runs = kind === 'run' || kind === 'narrow'
    const parentId = command.parent === null ? undefined : this.#task(command.parent)
    const after = command.after === null ? undefined : this.#task(command.after)
    const executor = runs ? { executor: kind === 'run' ? 'work' : 'narrow', input: { stubborn: policy.stubborn } } : {}
    const tasks = {
      first: { executor: 'work', input: { stubborn: policy.stubborn } },
      second: { executor: 'narrow', after: 'first', onDependencyFailure: policy.onDependencyFailure ?? 'block' },
      third: {},
    }
    const options: object = {
      name: `${kind} ${this.#count}`,
      ...executor,
      priority: command.priority,
      ...(runs && policy.retry ? { retry: { maxAttempts: 2, backoffMs: 3 * tick } } : {}),
      ...(runs && policy.timeout ? { timeoutMs: 6 * tick } : {}),
      ...(policy.deadline && this.#count % 2 ? { deadline: this.#world.clock.now() + 20 * tick } : {}),
      ...(policy.held ? { autoStart: false } : {}),
      ...(policy.autoComplete ? { autoComplete: true } : {}),
      ...(policy.concurrency ? { concurrency: 1 } : {}),
      ...(policy.onChildFailure ? { onChildFailure: policy.onChildFailure } : {}),
      ...(policy.onDependencyFailure ? { onDependencyFailure: policy.onDependencyFailure } : {}),
      ...(parentId ? { parentId } : {}),
      ...(after ? { blockedBy: [after] } : {}),
      ...(kind === 'group' ? { tasks } : {}),
    }
    return engine.create(options as CreateOptions & { executor?: undefined })
  }

  #verb({ host, verb, task, other }: Commands['verb']): Promise<unknown> | undefined {
    const engine = this.#world.engine(host)
    const id = this.#task(task)
    const second = this.#task(other)
    if (engine === undefined || id === undefined || second === undefined) return
    switch (verb) {
      case 'cancel':
        return engine.cancel(id, `#${this.#count}`)
      case 'fail':
        return engine.fail(id, `#${this.#count}`)
      case 'complete':
      case 'answer':
        return engine[verb](id, `#${this.#count}`)
      case 'delete':
        return engine.delete(id)
      case 'delete all':
        return engine.delete(id, { children: 'cascade' })
      case 'block':
      case 'unblock':
        return engine[verb](id, [second])
      default:
        return engine[verb](id)
    }
  }

  async #claim({ host, what, task, claim, lease }: Commands['claim']): Promise<void> {
    const engine = this.#world.engine(host)
    if (engine === undefined) return
    if (what === 'claim' || what === 'claim any') {
      const free = [...this.#world.audit.rows.values()].filter((row) => row.claimable)
      const id = what === 'claim' ? (free[task % Math.max(1, free.length)]?.id ?? this.#task(task)) : null
      if (id === undefined) return
      const owner = `owner-${this.#count}`
      const options = { owner, ...(lease ? { leaseMs: 4 * tick } : {}) }
      const claimed = id === null ? await engine.claim(null, options) : await engine.claim(id, options)
      if (claimed) this.#claims.unshift({ taskId: claimed.id, owner, fence: claimed.fence })
      return
    }
    const sender = this.#claims[claim]
    if (sender === undefined) return
    await this.#world.sendAs(sender, () => write(engine, what, sender))
  }

  #act({ doing, run: number }: Commands['executor']): undefined {
    const world = this.#world
    const { awake } = world
    const puppet = awake[number % Math.max(1, awake.length)]
    if (puppet === undefined) return
    const key = `${doing} ${this.#count}`
    const repeatedly = (ask: (run: Run) => Promise<unknown>): void => {
      // An executor notices an end by its signal.
      const asked = (run: Run): void => void ask(run).catch(() => {})
      world.asked.set(puppet.taskId, [...(world.asked.get(puppet.taskId) ?? []), asked])
      asked(puppet.run)
    }
    const children = [...world.audit.rows.values()].filter((row) => row.parentId === puppet.taskId).map((row) => row.id)
    switch (doing) {
      case 'return':
        return puppet.return() as undefined
      case 'throw':
        return puppet.throw('BROKE') as undefined
      case 'release':
        if (puppet.aborted) puppet.return()
        return
      case 'ask':
        repeatedly((run) => run.ask('Go on?', null, { key }))
        return
      case 'sleep':
        repeatedly((run) => run.sleep(2 * tick, { key }))
        return
      case 'spawn':
        repeatedly((run) => run.spawn({ name: key, executor: 'work' }, { key }))
        return
      case 'wait':
        if (children.length > 0) repeatedly((run) => run.wait(children, { key, settled: true }))
        return
      case 'wait for any':
        if (children.length > 0) repeatedly((run) => run.wait(children, { key, mode: 'any', timeoutMs: 20 * tick }))
        return
    }
  }

  #limit({ host, which, limit }: Commands['limit']): Promise<unknown> | undefined {
    const engine = this.#world.engine(host)
    if (which === 'shared') return engine?.setSharedLimits({ maxConcurrent: limit })
    if (which === 'shared narrow') return engine?.setSharedLimits({ limits: { narrow: limit } })
    const own = this.#host(host)
    if (own.awake === undefined || limit === null) return
    own.limits = { ...own.limits, [which === 'engine' ? 'maxConcurrent' : 'narrow']: limit }
    return own.awake.setLimits(which === 'engine' ? { maxConcurrent: limit } : { limits: { narrow: limit } as never })
  }
}

function write(engine: Engine, what: 'heartbeat' | 'complete' | 'fail' | 'release', sender: Claim): Promise<unknown> {
  const { taskId, owner, fence } = sender
  switch (what) {
    case 'heartbeat':
    case 'release':
      return engine[what](taskId, { owner, fence })
    case 'complete':
      return engine.complete(taskId, 'done', { owner, fence })
    case 'fail':
      return engine.fail(taskId, 'broke', { owner, fence })
  }
}

const maxPieceMs = 300

/** Lets time pass in pieces, with turns in between, so that heartbeats can be sent. */
export async function passTime(world: World, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= maxPieceMs) {
    world.clock.increment(Math.min(left, maxPieceMs))
    await turns(2)
  }
}
