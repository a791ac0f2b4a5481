// Exo's IntentRecognizer, and Exo's flow from a user's message to the completion of a parent.

import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { afterEach, describe, expect, expectTypeOf, it, vi } from 'vitest'
import * as exo from '../../src/compat/exo.ts'
import { type Intent, type IntentProvider, IntentRecognizer, TaskError } from '../../src/compat/exo.ts'
import { startFakeOpenAi } from '../agents/models/fake-openai-server.ts'
import { openExo } from './exo-world.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

/** A provider that returns answers in turn and records its requests. */
function providerSaying(...answers: Array<object | Error>) {
  const asked: Array<{ model: string; messages: Parameters<IntentProvider>[0] }> = []
  const provider: IntentProvider = async (messages, { model }) => {
    const answer = answers[asked.length]
    asked.push({ model, messages })
    if (answer === undefined || answer instanceof Error) throw answer ?? new Error('the script has no answer left')
    return JSON.stringify(answer)
  }
  return { provider, asked }
}

const cancelA = { action: 'cancel_task', task_id: 'task-a', confidence: 0.9, details: {} }

describe('the entry', () => {
  it('S3-107 errand/exo exports the names of the task controller, including those of intents', () => {
    expect(Object.keys(exo)).toEqual(
      expect.arrayContaining(['TaskStatus', 'TaskManager', 'TaskScheduler', 'TaskEventBus', 'IntentRecognizer']),
    )
    expectTypeOf<Intent['task_id']>().toEqualTypeOf<string | null>()
    expectTypeOf<Intent['details']>().toEqualTypeOf<Record<string, unknown>>()
  })
})

describe('the recogniser', () => {
  it('S3-094 S3-096 recognize returns an intent, and the model receives the available tasks', async () => {
    const { manager } = openExo()
    const { id } = await manager.create('Q1 report')
    const { provider, asked } = providerSaying({ ...cancelA, task_id: id }, cancelA, cancelA)
    const recognizer = new IntentRecognizer({ provider })
    const intent = await recognizer.recognize('Stop the report', { availableTasks: await manager.list() })
    expect(intent).toEqual({ action: 'cancel_task', task_id: id, confidence: 0.9, details: {} })
    const eventsOf = JSON.stringify(asked[0]?.messages)
    expect(eventsOf).toContain(id)
    expect(eventsOf).toContain('Q1 report')
    expect(await recognizer.recognize('Stop it', { availableTasks: await manager.list() })).toMatchObject({
      action: 'cancel_task',
      task_id: null,
    })
    expect(await recognizer.recognize('Stop it')).toMatchObject({ task_id: 'task-a' })
  })

  it('S3-097 recognize calls openai:gpt-4o-mini by default', async () => {
    expect(new IntentRecognizer().model).toBe('openai:gpt-4o-mini')
    const { provider, asked } = providerSaying(cancelA, cancelA)
    await new IntentRecognizer({ provider }).recognize('Stop')
    await new IntentRecognizer({ provider, model: 'local:tiny' }).recognize('Stop')
    expect(asked.map(({ model }) => model)).toEqual(['openai:gpt-4o-mini', 'local:tiny'])
  })

  it('S3-097 recognize calls the model of a bus by its id', async () => {
    const asked: unknown[] = []
    const bus = {
      invoke: (abilityId: string) => async (json: string) => {
        asked.push([abilityId, (JSON.parse(json) as { modelId: string }).modelId])
        return JSON.stringify({ content: JSON.stringify(cancelA) })
      },
    }
    expect(await new IntentRecognizer({ bus }).recognize('Stop')).toMatchObject({ action: 'cancel_task' })
    expect(asked).toEqual([['model:llm', 'openai:gpt-4o-mini']])
  })

  it('S3-097 recognize accepts a provider of the AI SDK, which is called with the name, or one of its models', async () => {
    const requested: unknown[] = []
    const content = JSON.stringify(cancelA)
    const fetch = async (_url: unknown, init?: { body?: unknown }) => {
      requested.push((JSON.parse(String(init?.body)) as { model: string }).model)
      const chunk = { id: '1', choices: [{ index: 0, delta: { content }, finish_reason: 'stop' }] }
      return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, {
        headers: { 'content-type': 'text/event-stream' },
      })
    }
    const provider = createOpenAICompatible({ name: 'openai', baseURL: 'http://127.0.0.1:1/v1', fetch: fetch as never })
    const expected = { action: 'cancel_task', task_id: 'task-a', confidence: 0.9, details: {} }
    expect(await new IntentRecognizer({ provider }).recognize('Stop')).toEqual(expected)
    const recognizer = new IntentRecognizer({ provider: provider.languageModel('gpt-large') })
    expect(recognizer.model).toContain('gpt-large')
    expect(await recognizer.recognize('Stop')).toEqual(expected)
    expect(requested).toEqual(['gpt-4o-mini', 'gpt-large'])
  })

  it('S3-097 recognize asks the server of the named model, with the key from the environment', async () => {
    await using server = await startFakeOpenAi([
      { status: 401, error: { message: 'wrong key' } },
      { text: JSON.stringify(cancelA) },
    ])
    vi.stubEnv('OPENAI_BASE_URL', server.baseURL)
    const recognizer = new IntentRecognizer({ model: 'openai:gpt-4o-mini' })
    expect(await recognizer.recognize('Stop')).toMatchObject({ action: 'unknown', details: { error: {} } })
    vi.stubEnv('OPENAI_API_KEY', 'sk-test')
    const intent = await new IntentRecognizer().recognize('Stop')
    expect(intent).toEqual({ action: 'cancel_task', task_id: 'task-a', confidence: 0.9, details: {} })
    expect(server.requests[1]).toMatchObject({
      body: { model: 'gpt-4o-mini' },
      headers: { authorization: 'Bearer sk-test' },
    })
  })

  it.each(['NaN', 'certain', null])('S3-101 recognize returns unknown for the confidence %j', async (confidence) => {
    const recognizer = new IntentRecognizer({ provider: providerSaying({ ...cancelA, confidence }).provider })
    expect(await recognizer.recognize('Stop')).toEqual({ action: 'unknown', task_id: null, confidence: 0, details: {} })
  })

  it('S3-104 recognize returns unknown below the threshold', async () => {
    const { provider } = providerSaying({ ...cancelA, confidence: 0.6 })
    const recognizer = new IntentRecognizer({ provider, threshold: 0.7 })
    expect(await recognizer.recognize('Stop')).toMatchObject({ action: 'unknown', confidence: 0.6 })
  })

  it('S3-105 recognize returns unknown with the error if the provider fails or is missing', async () => {
    const { provider } = providerSaying(new Error('the provider is down'))
    expect(await new IntentRecognizer({ provider }).recognize('Stop')).toEqual({
      action: 'unknown',
      task_id: null,
      confidence: 0,
      details: { error: { code: 'EXECUTION_ERROR', message: 'the provider is down' } },
    })
    vi.stubEnv('OPENAI_API_KEY', '')
    const alone = await new IntentRecognizer().recognize('Stop')
    expect(alone).toMatchObject({
      action: 'unknown',
      details: { error: { code: 'NO_MODEL', message: expect.stringContaining('OPENAI_API_KEY') } },
    })
  })

  it('IntentRecognizer refuses invalid options and inputs with errors of Exo', async () => {
    const { provider } = providerSaying()
    const bus = { invoke: () => async () => '' }
    const model = { specificationVersion: 'v4', provider: 'p', modelId: 'm', doStream: () => undefined } as never
    const bad = [{ modle: 'x' }, { provider: 7 }, { provider, bus }, { provider: model, model: 'x' }, { threshold: 2 }]
    for (const options of bad) expect(() => new IntentRecognizer(options as never)).toThrow(TaskError)
    await expect(new IntentRecognizer({ provider }).recognize(7 as never)).rejects.toBeInstanceOf(TaskError)
  })
})

describe('the flow', () => {
  it("S3-111 a user's message leads over intent, task and scheduler to the completion of the parent", async () => {
    const { manager, scheduler, received, eventsOf } = openExo({ autoComplete: true })
    const parent = await manager.create('Analyse the quarter')
    await manager.update(parent.id, { status: 'working' })
    const { provider } = providerSaying({
      action: 'create_task',
      task_id: parent.id,
      confidence: 0.95,
      details: { name: 'Research topic', priority: 5 },
    })
    const recognizer = new IntentRecognizer({ provider, threshold: 0.7 })

    const { action, details } = await recognizer.recognize('Research the topic first, below the analysis', {
      availableTasks: await manager.list(),
    })
    expect(action).toBe('create_task')
    const child = await manager.create(details['name'] as string, {
      priority: details['priority'] as number,
      parentId: parent.id,
    })
    const handled = await scheduler.schedule(async (task) => `read ${task.name}`)

    expect(handled).toMatchObject([{ id: child.id, priority: 5, status: 'completed', result: 'read Research topic' }])
    await received('task.completed', parent)
    expect(eventsOf(child)).toEqual(
      ['task.created', 'task.updated', 'task.started', 'task.completed'].map((type) => `${type} Research topic`),
    )
    expect(eventsOf(parent)).toEqual(
      ['task.created', 'task.started', 'task.completed'].map((type) => `${type} Analyse the quarter`),
    )
    expect(await manager.get(parent.id)).toMatchObject({ status: 'completed' })
  })
})
