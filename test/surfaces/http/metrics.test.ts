// GET /metrics: the measurements of an engine as Prometheus reads them.
import { expect, it } from 'vitest'
import type { EngineMetrics } from '../../../src/entities/metrics.ts'
import { defineExecutor } from '../../../src/index.ts'
import { prometheusText } from '../../../src/surfaces/http/prometheus.ts'
import { deferred } from '../../engine/world.ts'
import { openWorld } from './world.ts'

interface Family {
  type: string
  samples: Array<{ name: string; labels: Record<string, string>; value: number }>
}

const unescaped = (text: string): string =>
  text.replace(/\\(.)/g, (_all, letter: string) => (letter === 'n' ? '\n' : letter))

/** Reads the text by its grammar: HELP, TYPE, then the samples of that family. @throws for a line that does not fit it. */
function parseText(text: string): Map<string, Family> {
  const families = new Map<string, Family>()
  let name = ''
  expect(text.endsWith('\n')).toBe(true)
  for (const line of text.split('\n').slice(0, -1)) {
    const help = /^# HELP ([a-z_][a-z0-9_]*) [^\n]+$/.exec(line)
    const type = /^# TYPE ([a-z_][a-z0-9_]*) (counter|gauge|histogram|summary)$/.exec(line)
    const sample =
      /^([a-z_][a-z0-9_]*)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? ((?:\d+(?:\.\d+)?(?:e-?\d+)?)|\+Inf|NaN)$/.exec(
        line,
      )
    if (help) {
      name = help[1] as string
      expect(families.has(name), `${name} comes twice`).toBe(false)
    } else if (type) {
      expect(type[1]).toBe(name)
      families.set(name, { type: type[2] as string, samples: [] })
    } else if (sample) {
      const [, full = '', labels = '', value] = sample
      const family = families.get(name)
      const suffixes = { histogram: '_bucket|_sum|_count', summary: '_sum|_count', counter: '', gauge: '' }
      expect(full).toMatch(new RegExp(`^${name}(?:${suffixes[family?.type as 'gauge']})$`))
      const pairs = Array.from(labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g), ([, key, text]) => [
        key,
        unescaped(text as string),
      ])
      family?.samples.push({
        name: full,
        labels: Object.fromEntries(pairs) as Record<string, string>,
        value: Number(value),
      })
    } else throw new Error(`Not a line of the format: ${line}`)
  }
  return families
}

const readOnly = { authenticate: () => ({ owner: 'ann', scopes: ['read' as const] }) }

it('GET /metrics shows the queue, slots, ended runs and commits, and a principal with the scope read may read them', async () => {
  const go = deferred()
  const started = deferred()
  let tries = 0
  const executors = {
    held: defineExecutor({
      concurrency: 1,
      run: async () => {
        started.resolve()
        await go.promise
      },
    }),
    flaky: async () => {
      if (++tries === 1) throw new Error('no')
    },
    'odd "name"\\': async () => 1,
  }
  const { engine, ask } = await openWorld(readOnly, { executors, maxConcurrent: 5 })
  const held = await engine.create({ name: 'a', executor: 'held' })
  const behind = await engine.create({ name: 'b', executor: 'held' })
  await started.promise
  await engine.settled(await engine.create({ name: 'c', executor: 'flaky', retry: { maxAttempts: 2 } }))
  await engine.settled(await engine.create({ name: 'd', executor: 'odd "name"\\' }))
  const reply = await ask('GET', '/metrics')
  expect(reply.status).toBe(200)
  expect(reply.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  const families = parseText(reply.body as string)
  const sampleOf = (name: string, labels = {}) =>
    [...families.values()]
      .flatMap(({ samples }) => samples)
      .find(
        (sample) =>
          sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
      )?.value
  expect(sampleOf('errand_queue_depth', { executor: 'held' })).toBe(1)
  expect(sampleOf('errand_queue_oldest_age_seconds', { executor: 'held' })).toBeGreaterThanOrEqual(0)
  expect(sampleOf('errand_webhook_backlog')).toBe(0)
  expect(sampleOf('errand_slots_used')).toBe(1)
  expect(sampleOf('errand_slots_limit')).toBe(5)
  expect(sampleOf('errand_executor_slots_used', { executor: 'held' })).toBe(1)
  expect(sampleOf('errand_executor_slots_limit', { executor: 'held' })).toBe(1)
  expect(sampleOf('errand_executor_slots_limit', { executor: 'flaky' })).toBe(undefined)
  expect(sampleOf('errand_runs_total', { executor: 'flaky', outcome: 'retried' })).toBe(1)
  expect(sampleOf('errand_runs_total', { executor: 'flaky', outcome: 'completed' })).toBe(1)
  expect(sampleOf('errand_runs_total', { executor: 'odd "name"\\', outcome: 'completed' })).toBe(1)
  expect(sampleOf('errand_run_duration_seconds_count', { executor: 'flaky', outcome: 'completed' })).toBe(1)
  expect(sampleOf('errand_takeovers_total')).toBe(0)
  const commits = sampleOf('errand_commit_duration_seconds_count') as number
  expect(commits).toBeGreaterThan(5)
  expect(sampleOf('errand_commit_duration_seconds_bucket', { le: '+Inf' })).toBe(commits)
  go.resolve()
  await engine.settled(held)
  await engine.settled(behind)
})

it('GET /metrics is refused without the right to read, to credentials that name a task, and with a query', async () => {
  const creator = await openWorld({ authenticate: () => ({ owner: 'ann', scopes: ['create'] }) })
  expect(await creator.ask('GET', '/metrics')).toMatchObject({ status: 403 })
  const { engine, ask } = await openWorld({ authenticate: () => ({ taskId, scopes: ['read'] }) })
  const { id: taskId } = await engine.create({ name: 'a' })
  expect(await ask('GET', '/metrics')).toMatchObject({ status: 403 })
  const { ask: askAdmin } = await openWorld()
  expect(await askAdmin('GET', '/metrics', undefined, { authorization: '' })).toMatchObject({ status: 401 })
  expect(await askAdmin('GET', '/metrics?x=1')).toMatchObject({ status: 400 })
})

it('the buckets of commits are cumulative, and end with all', () => {
  const commits = {
    count: 3,
    durationMs: 1_210.5,
    upTo: [
      { boundMs: 5, count: 1 },
      { boundMs: 250, count: 2 },
    ],
  }
  const slots = { used: 0, maxConcurrent: 1 }
  const metrics: EngineMetrics = {
    instanceId: 'i',
    slots,
    executors: [],
    runs: [],
    takeovers: 0,
    commits,
    webhookBacklog: 0,
    queue: [],
  }
  const { samples = [] } = parseText(prometheusText(metrics)).get('errand_commit_duration_seconds') ?? {}
  expect(samples.map(({ name, labels, value }) => [name.replace(/^.*_/, ''), labels.le, value])).toEqual([
    ['bucket', '0.005', 1],
    ['bucket', '0.25', 2],
    ['bucket', '+Inf', 3],
    ['sum', undefined, 1.2105],
    ['count', undefined, 3],
  ])
})
