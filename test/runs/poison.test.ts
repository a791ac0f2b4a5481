// A task that takes its process down is detected, and its neighbors are not blamed. Deaths happen within the process
// (world.die).
import { describe, expect, it } from 'vitest'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { createWorld, gate, type WorkFunction, type World } from './world.ts'

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate)
}

/**
 * Opens one engine after the other until all tasks have settled; the n-th dies when its executor of `poison` requests
 * it.
 */
async function outlive(
  names: readonly string[],
  work: (task: ExecutorTask, run: Run, die: () => void) => unknown,
  maxCrashes = 3,
) {
  const ledger = await openLedger(':memory:')
  const beside: string[][] = []
  let tasks: Array<{ id: string }> | undefined
  for (let deaths = 0; deaths < 20; deaths++) {
    const died = gate<'died'>()
    const running: string[] = []
    beside.push(running)
    const mortal: WorkFunction = (task, run) => {
      running.push(task.name)
      return work(task, run, () => {
        world.die()
        died.resolve('died')
      })
    }
    const world: World = await createWorld(mortal, { maxCrashes }, ledger)
    tasks ??= await Promise.all(names.map((name) => world.engine.create({ name, executor: 'work' })))
    const settled = Promise.all(tasks.map((task) => world.engine.settled(task.id)))
    const outcome = await Promise.race([died.promise, settled])
    if (outcome !== 'died') return { outcomes: outcome, deaths, beside }
  }
  throw new Error('It took too many deaths')
}

describe('a task that kills its process', () => {
  it('a task that kills its process fails alone as POISONED: of those that ran beside it twice, one at a time is retried', async () => {
    const names = ['honest-1', 'honest-2', 'poison', 'honest-3', 'honest-4']
    const { outcomes, deaths, beside } = await outlive(names, async (task, _run, die) => {
      await turns(3)
      if (task.name === 'poison') die()
      await turns(3)
      return 'fine'
    })
    expect(outcomes.map(({ status }) => status)).toEqual(['completed', 'completed', 'failed', 'completed', 'completed'])
    expect(outcomes[2]).toMatchObject({ error: { code: 'POISONED', details: { crashes: 3 } } })
    expect(deaths).toBe(3)
    expect(beside.slice(0, 2).map((running) => running.length)).toEqual([5, 5])
    // Those before it ran alone and completed; then it ran alone, and killed the process once more.
    expect(beside[2]).toEqual(['honest-1', 'honest-2', 'poison'])
  })

  it('handlers that kill their process are tried alone and fail as POISONED, and the tasks beside them are not blamed', async () => {
    const ledger = await openLedger(':memory:')
    let ids: string[] | undefined
    for (let deaths = 0; deaths < 20; deaths++) {
      const died = gate<'died'>()
      const mortal: WorkFunction = async ({ name }) => {
        await turns(3)
        if (name === 'poison') {
          world.die()
          died.resolve('died')
        }
        await turns(3)
      }
      const world: World = await createWorld(mortal, { maxCrashes: 3 }, ledger)
      const { engine } = world
      if (ids === undefined) {
        const failing = { name: 'by hand', onFailure: { executor: 'work', name: 'poison' } }
        const created = await engine.create([failing, failing, { name: 'honest', executor: 'work' }])
        for (const task of created.slice(0, 2)) {
          await engine.start(task)
          await engine.fail(task, 'no')
        }
        const handlers = (await engine.list({ system: true })).tasks
        ids = [...handlers, ...created.slice(2)].map(({ id }) => id)
      }
      const outcome = await Promise.race([died.promise, Promise.all(ids.map((id) => engine.settled(id)))])
      if (outcome === 'died') continue
      expect(outcome.map(({ status }) => status)).toEqual(['failed', 'failed', 'completed'])
      expect(outcome[0]).toMatchObject({ error: { code: 'POISONED' } })
      return
    }
    throw new Error('It took too many deaths')
  })

  it('a task that kills its process does not affect those that ran beside it without a call in flight', async () => {
    const { outcomes, deaths, beside } = await outlive(['poison', 'honest'], async (task, run, die) => {
      if (task.name === 'poison') {
        await run.call(
          'explode',
          async () => {
            await turns(3)
            die()
            await new Promise(() => {})
          },
          { onInterrupt: 'rerun' },
        )
      }
      if (task.name === 'honest' && run.number < 4) await new Promise(() => {})
      return 'fine'
    })
    expect(outcomes[0]).toMatchObject({ status: 'failed', error: { code: 'POISONED' } })
    expect(outcomes[1]).toMatchObject({ status: 'completed' })
    // Three times beside the honest task, which is no suspect, and once alone: only then it is certain.
    expect(deaths).toBe(4)
    expect(beside).toEqual([['poison', 'honest'], ['poison', 'honest'], ['poison', 'honest'], ['poison'], ['honest']])
  })

  for (const maxCrashes of [1, 2, 3]) {
    it(`a task that kills its process outside of a call affects none whose calls were in flight, with ${maxCrashes} crashes allowed`, async () => {
      const names = ['honest-1', 'honest-2', 'poison', 'honest-3']
      const work = async (task: ExecutorTask, run: Run, die: () => void) => {
        await turns(3)
        if (task.name === 'poison') die()
        await run.call('work', () => turns(6), { onInterrupt: 'rerun' })
        return 'fine'
      }
      const { outcomes } = await outlive(names, work, maxCrashes)
      expect(outcomes.map(({ status }) => status)).toEqual(['completed', 'completed', 'failed', 'completed'])
      expect(outcomes[2]).toMatchObject({ error: { code: 'POISONED' } })
    })
  }

  it('a task that kills its process runs alone after so many crashes beside others, until it has recorded something', async () => {
    const ledger = await openLedger(':memory:')
    const producer = await createWorld(() => null, { work: false }, ledger)
    const [slow, other] = await Promise.all(
      ['slow', 'other'].map((name) => producer.engine.create({ name, executor: 'work' })),
    )
    await ledger.step({
      name: 'crash three times',
      *decide(tx) {
        const task = yield* tx.task.get(slow?.id as string)
        if (task !== undefined) yield* tx.task.save({ ...task, crashes: 3 })
      },
    })
    const running: string[] = []
    const [begun, record, beside] = [gate(), gate(), gate()]
    const world = await createWorld(
      async ({ name }, run) => {
        running.push(name)
        if (name === 'other') return beside.resolve()
        begun.resolve()
        await record.promise
        await run.call('progress', () => 1)
        return beside.promise
      },
      {},
      ledger,
    )
    await begun.promise
    await turns(20)
    expect(running).toEqual(['slow'])
    record.resolve()
    await Promise.all([slow, other].map((task) => world.engine.result(task?.id as string)))
    expect(running).toEqual(['slow', 'other'])
  })

  it('a task that kills its process is no longer a suspect once its run has recorded an outcome', async () => {
    let calls = 0
    const { outcomes, deaths } = await outlive(['slow'], async (_task, run, die) => {
      for (let step = 0; step < 6; step++) {
        await run.call(`step ${step}`, () => ++calls)
        if (run.number === step + 1) {
          die()
          await new Promise(() => {})
        }
      }
      return 'fine'
    })
    expect([outcomes[0]?.status, deaths, calls]).toEqual(['completed', 6, 6])
  })

  it('a task that kills its process is no longer a suspect once its run has recorded an outcome, though the crash is charged to another task', async () => {
    const progressed = gate()
    const never = new Promise<never>(() => {})
    const { outcomes, deaths } = await outlive(['slow', 'bomb'], async ({ name }, run, die) => {
      const explode = (): Promise<unknown> =>
        run.call(
          `explode in run ${run.number}`,
          async () => {
            await turns(3)
            die()
            await never
          },
          { onInterrupt: 'rerun' },
        )
      if (name === 'slow') {
        if (run.number <= 2 || run.number === 4) return explode()
        await run.call('progress', () => 1)
        if (run.number > 4) return 'fine'
        progressed.resolve()
        return never
      }
      if (run.number < 3) return never
      if (run.number > 3) return 'fine'
      await progressed.promise
      return explode()
    })
    expect([outcomes[0]?.status, outcomes[1]?.status, deaths]).toEqual(['completed', 'completed', 4])
  })
})

describe('a parent that works while its children do', () => {
  const never = new Promise<never>(() => {})

  /** Without a wait that the engine knows of, so that the run goes on meanwhile. */
  async function completed(engine: World['engine'], { id }: { id: string }): Promise<string> {
    while ((await engine.get(id))?.status !== 'completed') await turns(1)
    return 'completed'
  }

  /** Opens one engine after the other on a ledger; each dies when its work asks for it. Resolves to the outcome of the first task. */
  async function lives(
    deaths: number,
    names: readonly string[],
    work: (task: ExecutorTask, run: Run, life: { number: number; end(): void; engine: World['engine'] }) => unknown,
  ) {
    const ledger = await openLedger(':memory:')
    let tasks: Array<{ id: string }> | undefined
    for (let number = 0; ; number++) {
      const died = gate()
      const end = () => {
        world.die()
        died.resolve()
      }
      const mortal: WorkFunction = (task, run) => work(task, run, { number, end, engine: world.engine })
      const world: World = await createWorld(mortal, { maxConcurrent: 3, onInterrupt: 'rerun' }, ledger)
      tasks ??= await Promise.all(names.map((name) => world.engine.create({ name, executor: 'work' })))
      const { id } = tasks[0] as { id: string }
      if (number === deaths) return { world, id, outcome: await world.engine.settled(id) }
      await died.promise
    }
  }

  it('children that complete clear the crashes of their parent', async () => {
    const { outcome, world, id } = await lives(6, ['parent'], async (task, run, life) => {
      const [, child] = /^child (\d)$/.exec(task.name) ?? []
      if (child !== undefined) return Number(child) > life.number ? never : 'done'
      const children = await run.spawn(Array.from({ length: 7 }, (_, n) => ({ name: `child ${n}`, executor: 'work' })))
      // Alive while the children work; in each life one of them completes.
      await completed(life.engine, children[life.number] as { id: string })
      if (life.number < 6) life.end()
      return 'all'
    })
    expect(outcome).toMatchObject({ status: 'completed', result: 'all' })
    expect((await world.ledger.read((tx) => tx.task.get(id)))?.crashes).toBeLessThan(2)
  })

  it('the descendants of a task that has to run alone run beside it, and clear it', async () => {
    const begun: string[] = []
    const { outcome, world } = await lives(3, ['parent', 'honest'], async (task, run, life) => {
      if (life.number === 3) begun.push(task.name)
      if (task.name !== 'parent') return life.number < 3 ? never : 'done'
      const child = await run.spawn({ name: 'child', executor: 'work' })
      if (life.number === 3) return completed(life.engine, child)
      return run.call('explode', async () => {
        await turns(5)
        life.end()
        return never
      })
    })
    expect(outcome).toMatchObject({ status: 'completed', result: 'completed' })
    await world.engine.idle()
    expect(begun).toEqual(['parent', 'child', 'honest'])
  })

  it('a task that kills its process beside its descendants fails as POISONED', async () => {
    const { outcome } = await lives(3, ['parent'], async (task, run, life) => {
      if (task.name !== 'parent') return never
      await run.spawn({ name: 'child', executor: 'work' })
      await turns(5)
      life.end()
      return never
    })
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'POISONED' } })
  })
})
