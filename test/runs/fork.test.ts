// `engine.fork`: a new task that begins with what another one has recorded.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import { defineAbility } from '../../src/bus/ability.ts'
import { type ErrorCode, Failure } from '../../src/core/errors.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { Run } from '../../src/entities/executor.ts'
import { history, ledgerFile, openEngine, reached, refusalOf } from '../engine/world.ts'
import { violationsIn } from '../ledger/check/violations-in.ts'

/** Reads, pays and mails; `fails` names the call that fails. */
function order() {
  const made: string[] = []
  const state = { fails: 'pay' as string | undefined }
  const executor = async ({ input }: { input: unknown }, run: Run) => {
    const step = (name: string, of: unknown = null) =>
      run.call(name, { of }, () => {
        made.push(name)
        if (state.fails === name) throw new Failure(`${name} failed`, { code: 'DOWN' })
        return `${name} done`
      })
    const read = await step('read')
    const paid = await step('pay', input)
    return [read, paid, await step('mail')]
  }
  return { made, state, executor }
}

const idOfCall = async (engine: Engine, task: { id: string }, name: string) =>
  (await engine.calls(task.id)).findLast((call) => call.name === name)?.id as string

describe('a fork of a task with a function', () => {
  it('makes the call again that failed, replays those before it, and leaves the original as it is', async () => {
    const ledger = ledgerFile()
    const { made, state, executor } = order()
    const engine = await openEngine({ ledger, executors: { executor } })
    const task = await engine.create({ executor: 'executor', input: 7, tags: ['paid'], key: 'order' })
    await reached(engine, task, 'failed')
    const before = [await engine.get(task), await engine.calls(task), await history(engine, task.id)]
    state.fails = undefined
    const fork = await engine.fork(task)
    expect(fork).toMatchObject({ forkedFrom: task.id, input: 7, tags: ['paid'], key: null, parentId: null, attempt: 1 })
    expect(await engine.result(fork)).toEqual(['read done', 'pay done', 'mail done'])
    expect(made).toEqual(['read', 'pay', 'pay', 'mail'])
    expect([await engine.get(task), await engine.calls(task), await history(engine, task.id)]).toEqual(before)
    expect((await engine.calls(fork)).map(({ name, run, attempt }) => [name, run, attempt])).toEqual([
      ['read', 0, 1],
      ['pay', 1, 1],
      ['mail', 1, 1],
    ])
    expect((await history(engine, fork.id))[0]?.data).toMatchObject({ forkedFrom: task.id })
    await engine.close()
    expect(await violationsIn(ledger)).toEqual([])
  })

  it('makes the last call of a completed task again, or the one that `at` names and what follows', async () => {
    const { made, state, executor } = order()
    state.fails = undefined
    const engine = await openEngine({ executors: { executor } })
    const task = await engine.create({ executor: 'executor' })
    await engine.result(task)
    await engine.result(await engine.fork(task))
    expect(made.splice(0)).toEqual(['read', 'pay', 'mail', 'mail'])
    await engine.result(await engine.fork(task, { at: await idOfCall(engine, task, 'read') }))
    expect(made.splice(0)).toEqual(['read', 'pay', 'mail'])
    await engine.result(await engine.fork(task, { at: 'failure' }))
    expect(made).toEqual([])
  })

  it('takes another result for the call, which is not made', async () => {
    const { made, executor } = order()
    const engine = await openEngine({ executors: { executor } })
    const task = await engine.create({ executor: 'executor' })
    await reached(engine, task, 'failed')
    const fork = await engine.fork(task, { result: { paid: 'by hand' } })
    expect(await engine.result(fork)).toEqual(['read done', { paid: 'by hand' }, 'mail done'])
    expect(made).toEqual(['read', 'pay', 'mail'])
  })

  it('takes another input, and repeats only what that changes', async () => {
    const { made, state, executor } = order()
    state.fails = undefined
    const engine = await openEngine({ executors: { executor } })
    const task = await engine.create({ executor: 'executor', input: 1 })
    await engine.result(task)
    const fork = await engine.fork(task, { input: 2 })
    await engine.result(fork)
    expect(fork.input).toBe(2)
    expect(made.slice(3)).toEqual(['pay', 'mail'])
  })

  it('replays answers, signals, races, failures that were caught and calls inside calls', async () => {
    const ledger = ledgerFile()
    const effects: string[] = []
    const logs = new Map<string, unknown[]>()
    const work = async (task: { id: string }, run: Run) => {
      const log: unknown[] = []
      logs.set(task.id, log)
      const effect = (name: string) => effects.push(name)
      log.push(await run.ask('Which?'), await run.waitForSignal('paid'), await run.uuid(), await run.now())
      await run.message('assistant', 'Said once')
      log.push((await run.race([run.ask('Never answered'), run.sleep(1)])) ?? 'slept')
      log.push(
        await run
          .call('broken', () => {
            effect('broken')
            throw new Failure('no', { code: 'NO' })
          })
          .catch(({ code }: Failure) => code),
      )
      log.push(await run.call('outer', () => run.call('inner', () => effect('inner'))))
      log.push(await run.call('last', () => effect('last')))
      return log
    }
    const engine = await openEngine({ ledger, executors: { work } })
    const task = await engine.create({ executor: 'work' })
    await reached(engine, task, 'input_required')
    await engine.answer(task, 'that')
    await reached(engine, task, 'waiting')
    await engine.signal(task, 'paid', { amount: 12 })
    const first = await engine.result(task)
    const fork = await engine.fork(task)
    expect(((await engine.result(fork)) as unknown[]).slice(0, -1)).toEqual((first as unknown[]).slice(0, -1))
    expect(effects).toEqual(['broken', 'inner', 'last', 'last'])
    expect((await engine.messages(fork)).map(({ content }) => content)).toEqual(
      (await engine.messages(task)).map(({ content }) => content),
    )
    await engine.close()
    expect(await violationsIn(ledger)).toEqual([])
  })

  it('refers to the children of its original, and never retries them', async () => {
    const attempts: string[] = []
    const child = (task: { name: string }) => {
      attempts.push(task.name)
      if (task.name === 'bad') throw new Failure('bad', { retry: false })
      return `${task.name} done`
    }
    let fails = true
    const parent = async (_task: unknown, run: Run) => {
      const children = await run.spawn([
        { executor: 'child', name: 'good' },
        { executor: 'child', name: 'bad' },
      ])
      const settled = await run.wait(children, { settled: true })
      await run.call('sum', () => {
        if (fails) throw new Error('later')
      })
      return settled.map(({ status }) => status)
    }
    const engine = await openEngine({ executors: { parent, child } })
    const task = await engine.create({ executor: 'parent' })
    await reached(engine, task, 'failed')
    const fork = await engine.fork(task)
    await reached(engine, fork, 'failed')
    expect(attempts.toSorted()).toEqual(['bad', 'good'])
    expect(await engine.children(fork)).toEqual([])
    fails = false
    await engine.retry(fork)
    expect(await engine.result(fork)).toEqual(['completed', 'failed'])
    expect((await engine.children(task)).map(({ name, attempt }) => [name, attempt])).toEqual([
      ['good', 1],
      ['bad', 1],
    ])
  })

  it('is found from its original, and originals can be left out of lists', async () => {
    const { executor } = order()
    const engine = await openEngine({ executors: { executor } })
    const task = await engine.create({ executor: 'executor' })
    await reached(engine, task, 'failed')
    const fork = await engine.fork(task)
    await reached(engine, fork, 'failed')
    const ids = async (filter: object) => (await engine.list(filter)).tasks.map(({ id }) => id)
    expect(await ids({ forkedFrom: task.id })).toEqual([fork.id])
    expect(await ids({ status: 'failed', forked: false })).toEqual([fork.id])
    expect(await ids({ forked: true })).toEqual([task.id])
  })

  it('is refused for a group, a task without an executor, an unknown call, and options without effect', async () => {
    const { executor } = order()
    const engine = await openEngine({ executors: { executor } })
    const group = await engine.create({ name: 'g', tasks: { a: { executor: 'executor' } } })
    const byHand = await engine.create({ name: 'by hand' })
    const task = await engine.create({ executor: 'executor' })
    await reached(engine, task, 'failed')
    const refused = async (ref: { id: string }, options?: object, code: ErrorCode = 'INVALID_INPUT') =>
      (await refusalOf(() => engine.fork(ref.id, options), code)).message
    expect(await refused(group)).toContain('is a group')
    expect(await refused(byHand)).toContain('no executor')
    expect(await refused(task, { at: 'call-x' }, 'NOT_FOUND')).toContain('no call and no message call-x')
    expect(await refused(task, { model: 'm' })).toContain('no model works on it')
    expect(await refused(task, { result: 1, more: true }, 'UNKNOWN_OPTION')).toContain('more')
    expect((await engine.list()).total).toBe(4)
  })
})

describe('a fork of a task with an agent', () => {
  const tool = (made: string[]) =>
    defineAbility({
      id: 'bank:balance',
      access: 'read',
      description: 'Reads a balance.',
      input: z.object({ of: z.string() }),
      output: z.object({ balance: z.number() }),
      handle: ({ of }) => {
        made.push(of)
        return { balance: 12 }
      },
    })
  const model = (modelId: string) =>
    createScriptedModel(
      ({ turn, last, messages }) =>
        turn === 0
          ? { tools: [{ name: 'bank_balance', input: { of: 'ann' } }] }
          : { text: `${modelId}, ${messages[0]?.text}: ${last}` },
      { modelId },
    )
  async function agentTask() {
    const made: string[] = []
    const ledger = ledgerFile()
    const engine = await openEngine({
      ledger,
      model: model('first'),
      models: { second: model('second') },
      abilities: [tool(made)],
    })
    const task = await engine.create({ goal: 'Read it', systemPrompt: 'Be brief.' })
    expect(await engine.result(task)).toBe('first, Be brief.: {"balance":12}')
    expect(made.splice(0)).toEqual(['ann'])
    return { engine, task, made, ledger }
  }

  it('takes the last step of the model again, with another model and other instructions, and calls no tool again', async () => {
    const { engine, task, made, ledger } = await agentTask()
    const fork = await engine.fork(task, { model: 'second', prompt: 'Be kind.' })
    expect(await engine.result(fork)).toBe('second, Be kind.: {"balance":12}')
    expect(made).toEqual([])
    expect(await engine.result(task)).toContain('first')
    await engine.close()
    expect(await violationsIn(ledger)).toEqual([])
  })

  it('takes an earlier step again, or makes a tool call again, or takes another result for it', async () => {
    const { engine, task, made } = await agentTask()
    const [first] = (await engine.messages(task)).filter(({ step }) => step !== null)
    await engine.result(await engine.fork(task, { at: first?.id as string }))
    expect(made.splice(0)).toEqual(['ann'])
    const [call] = await engine.calls(task)
    await engine.result(await engine.fork(task, { at: call?.id as string }))
    expect(made.splice(0)).toEqual(['ann'])
    const fork = await engine.fork(task, { at: call?.id as string, result: { balance: 0 } })
    expect(await engine.result(fork)).toBe('first, Be brief.: {"balance":0}')
    expect(made).toEqual([])
  })

  it('is refused with another input, which its agent would not read', async () => {
    const { engine, task } = await agentTask()
    const refusal = await refusalOf(() => engine.fork(task, { input: 1 }), 'INVALID_INPUT')
    expect(refusal.message).toContain('has read its input already')
  })
})

describe('a property', () => {
  const op = fc.constantFrom('call', 'fails', 'uuid', 'say', 'sleep', 'inside', 'spawn', 'ask')
  it('a fork at any call replays to the state of its original before that call, and repeats no effect', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(op, { maxLength: 12 }), fc.nat(), async (ops, chosen) => {
        const effects: string[] = []
        const logs = new Map<string, unknown[]>()
        const work = async (task: { id: string }, run: Run) => {
          const log: unknown[] = []
          logs.set(task.id, log)
          for (const [index, kind] of [...ops, 'call' as const].entries()) {
            const make = () => {
              effects.push(`${kind} ${index}`)
              if (kind === 'fails') throw new Failure(`failed ${index}`, { code: 'FAILED' })
              return index
            }
            if (kind === 'uuid') log.push(await run.uuid())
            else if (kind === 'say') log.push(await run.message('assistant', 'the same text'))
            else if (kind === 'sleep') log.push(await run.sleep(0))
            else if (kind === 'spawn') log.push((await run.spawn({ executor: 'child' })).id)
            else if (kind === 'ask') log.push(await run.ask('Which?', null, { timeoutMs: 1, default: index }))
            else if (kind === 'inside') log.push(await run.call('outer', () => run.call('inner', make)))
            else log.push(await run.call(kind, make).catch(({ message }: Failure) => message))
          }
        }
        const ledger = ledgerFile()
        const engine = await openEngine({ ledger, executors: { work, child: () => 1 } })
        const task = await engine.create({ executor: 'work' })
        await engine.result(task)
        const original = logs.get(task.id) as unknown[]
        const points = (await engine.calls(task)).filter(({ name }) => name !== 'inner')
        const at = points[chosen % points.length] as { id: string; name: string }
        const nth = points.indexOf(at as never)
        const position = [...ops, 'call']
          .map((kind, index) => [kind, index] as const)
          .filter(([kind]) => ['call', 'fails', 'inside'].includes(kind))[nth]?.[1] as number
        effects.length = 0
        const fork = await engine.fork(task, { at: at.id })
        await engine.result(fork)
        // A message has an id of its own in each task.
        const isSaid = (index: number) => ops[index] === 'say'
        const replayed = (log: unknown[]) =>
          log.slice(0, position).map((value, index) => (isSaid(index) ? 'said' : value))
        expect(replayed(logs.get(fork.id) as unknown[])).toEqual(replayed(original))
        expect(effects.map((effect) => Number(effect.split(' ')[1])).every((index) => index >= position)).toBe(true)
        await engine.close()
        expect(await violationsIn(ledger)).toEqual([])
      }),
      { numRuns: 25 },
    )
  })
})
