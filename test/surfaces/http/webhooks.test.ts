// Signals over HTTP: those of clients with credentials, and the requests of services to webhooks of runs.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Run } from '../../../src/entities/executor.ts'
import { maxSignalBytes } from '../../../src/entities/signal.ts'
import { createEngine } from '../../../src/index.ts'
import { refusalOf } from '../../engine/world.ts'
import { createTaskEngine } from './webhook-world.ts'

const orders = z.object({ amount: z.int().min(1) })

describe('a webhook of a run', () => {
  const work = async (_task: unknown, run: Run) => {
    const hook = await run.webhook()
    await run.progress(0, hook.url)
    return hook.wait()
  }

  it('takes one request without credentials, whose body the run gets, and no second one', async () => {
    const { engine, task, post, url } = await createTaskEngine(work)
    expect(url).toMatch(/^\/signals\/call-[a-z2-7]{13}\.[0-9a-f-]{36}$/)
    expect(await post(url, { amount: 12 })).toMatchObject({ status: 202, body: '' })
    expect(await engine.result(task)).toEqual({ amount: 12 })
    expect(await post(url, { amount: 13 })).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
  })

  it('has the same address in every run', async () => {
    const { engine, task, url } = await createTaskEngine(async (_task, run) => {
      const hook = await run.webhook()
      await run.progress(0, hook.url)
      await run.ask('Go on?')
      return hook.url
    })
    await engine.answer(task, true)
    expect(await engine.result(task)).toBe(url)
  })

  it.each([
    ['https://tasks.example.org/', 'https://tasks.example.org'],
    ['http://tasks.example.org:8080/errand', 'http://tasks.example.org:8080/errand'],
  ])('has an address that begins with the public URL of the engine: %s', async (publicUrl, begin) => {
    const { engine, task, post, url } = await createTaskEngine(work, { publicUrl })
    expect(url.slice(0, begin.length + 9)).toBe(`${begin}/signals/`)
    expect(await post(url.slice(begin.length), { amount: 12 })).toMatchObject({ status: 202 })
    expect(await engine.result(task)).toEqual({ amount: 12 })
  })

  it.each([
    'tasks.example.org',
    'ftp://tasks.example.org',
    'https://a:b@c.d',
    'https://a.b/?c',
    'https://',
    'https://a b/',
  ])('has no address that begins with %s, which createEngine refuses', async (publicUrl) => {
    await refusalOf(createEngine({ publicUrl }), 'INVALID_INPUT')
  })

  it('is unknown by another token, and takes nothing for it', async () => {
    const { engine, task, post, url } = await createTaskEngine(work)
    const [id = '', secret = ''] = url.split('.')
    for (const path of [id, `${id}.`, `${id}.${secret}0`, `/signals/call-aaaaaaaaaaaaa.${secret}`, '/signals/x']) {
      expect(await post(path, {})).toMatchObject({ status: 404 })
    }
    expect((await engine.get(task))?.status).toBe('waiting')
  })

  it('takes text, and a request without a body as true', async () => {
    const text = await createTaskEngine(work)
    await text.post(text.url, 'paid=yes', { 'content-type': 'application/x-www-form-urlencoded' })
    expect(await text.engine.result(text.task)).toBe('paid=yes')
    const empty = await createTaskEngine(work)
    expect(await empty.post(empty.url)).toMatchObject({ status: 202 })
    expect(await empty.engine.result(empty.task)).toBe(true)
  })

  it('refuses a body above 256 kB, null, and JSON that is none, and stays open', async () => {
    const { engine, task, post, url } = await createTaskEngine(work)
    const json = { 'content-type': 'application/json' }
    expect(await post(url, `"${'x'.repeat(maxSignalBytes)}"`, json)).toMatchObject({ status: 413 })
    expect(await post(url, 'null', json)).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } })
    expect(await post(url, '{', json)).toMatchObject({ status: 400 })
    await post(url, { ok: 1 })
    expect(await engine.result(task)).toEqual({ ok: 1 })
  })

  it('refuses a body that does not match its schema, and stays open', async () => {
    const { engine, task, post, url } = await createTaskEngine(async (_task, run) => {
      const hook = await run.webhook({ schema: orders })
      await run.progress(0, hook.url)
      return hook.wait({ timeoutMs: '1h' })
    })
    expect(await post(url, { amount: 0 })).toMatchObject({ status: 400, body: { code: 'INVALID_SIGNAL' } })
    expect(await post(url, { amount: 2 })).toMatchObject({ status: 202 })
    expect(await engine.result(task)).toEqual({ amount: 2 })
  })

  it('takes a request that comes before its run waits', async () => {
    const { engine, task, post, url } = await createTaskEngine(async (_task, run) => {
      const hook = await run.webhook()
      await run.progress(0, hook.url)
      await run.ask('Go on?')
      return hook.wait()
    })
    expect(await post(url, { early: true })).toMatchObject({ status: 202 })
    await engine.answer(task, true)
    expect(await engine.result(task)).toEqual({ early: true })
  })

  it('lets nothing else pass without credentials, and refuses the token of a task that has ended', async () => {
    const { engine, task, ask, post, url } = await createTaskEngine(work)
    expect(await ask('GET', url)).toMatchObject({ status: 401 })
    expect(await ask('POST', '/signals')).toMatchObject({ status: 401 })
    await engine.cancel(task)
    expect(await post(url, {})).toMatchObject({ status: 409, body: { code: 'INVALID_TRANSITION' } })
  })
})

it('a client sends a signal by a route, if its credentials have the scope `control`', async () => {
  const { engine, task, as } = await createTaskEngine(async (_task, run) => {
    await run.progress(0, 'ready')
    return run.waitForSignal('paid')
  })
  const path = `/tasks/${task.id}/signals`
  const body = { name: 'paid', payload: { amount: 3 }, id: 'evt_1' }
  expect(await as(['read', 'create'])('POST', path, body)).toMatchObject({ status: 403 })
  expect(await as(['control'])('POST', path, body)).toMatchObject({ status: 200, body: { taskId: task.id } })
  expect(await engine.result(task)).toEqual({ amount: 3 })
})
