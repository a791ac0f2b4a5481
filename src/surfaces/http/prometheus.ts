// The measurements of an engine in the text format of Prometheus 0.0.4: https://prometheus.io/docs/instrumenting/exposition_formats/
import type { EngineMetrics } from '../../entities/metrics.ts'

export const prometheusType = 'text/plain; version=0.0.4; charset=utf-8'

type Sample = [labels: Record<string, string>, value: number, suffix?: '_bucket' | '_sum' | '_count']

export function prometheusText(metrics: EngineMetrics): string {
  const { queue, webhookBacklog, slots, executors, runs, takeovers, commits } = metrics
  const bySecond = (ms: number): number => ms / 1_000
  const families: string[] = [
    family(
      'queue_depth',
      'gauge',
      'Tasks of the ledger that wait for a slot.',
      queue.map(({ executor, ready }): Sample => [{ executor }, ready]),
    ),
    family(
      'queue_oldest_age_seconds',
      'gauge',
      'How long the oldest of them has not changed.',
      queue.map(({ executor, oldestMs }): Sample => [{ executor }, bySecond(oldestMs)]),
    ),
    family('webhook_backlog', 'gauge', 'Deliveries of webhooks that are not over.', [[{}, webhookBacklog]]),
    family('slots_used', 'gauge', 'Slots of this engine with a run.', [[{}, slots.used]]),
    family('slots_limit', 'gauge', 'Slots of this engine.', [[{}, slots.maxConcurrent]]),
    family(
      'executor_slots_used',
      'gauge',
      'Slots of this engine with a run of the executor.',
      executors.map(({ executor, used }): Sample => [{ executor }, used]),
    ),
    family(
      'executor_slots_limit',
      'gauge',
      'Slots that the executor may use in this engine, where it has a limit.',
      executors.flatMap(({ executor, limit }): Sample[] => (limit === null ? [] : [[{ executor }, limit]])),
    ),
    family(
      'runs_total',
      'counter',
      'Runs of this engine that have ended, by how.',
      runs.map(({ executor, outcome, count }): Sample => [{ executor, outcome }, count]),
    ),
    family(
      'run_duration_seconds',
      'summary',
      'The time that these runs have taken.',
      runs.flatMap(({ executor, outcome, count, durationMs }): Sample[] => [
        [{ executor, outcome }, bySecond(durationMs), '_sum'],
        [{ executor, outcome }, count, '_count'],
      ]),
    ),
    family('takeovers_total', 'counter', 'Runs of lost engines that this one has taken over.', [[{}, takeovers]]),
    family('commit_duration_seconds', 'histogram', 'Commits of this engine, with the waits for locks.', [
      ...commits.upTo.map(({ boundMs, count }): Sample => [{ le: String(bySecond(boundMs)) }, count, '_bucket']),
      [{ le: '+Inf' }, commits.count, '_bucket'],
      [{}, bySecond(commits.durationMs), '_sum'],
      [{}, commits.count, '_count'],
    ]),
  ]
  return families.join('')
}

function family(
  name: string,
  type: 'gauge' | 'counter' | 'histogram' | 'summary',
  help: string,
  samples: Sample[],
): string {
  const full = `errand_${name}`
  const lines = samples.map(([labels, value, suffix = '']) => `${full}${suffix}${labelsText(labels)} ${value}\n`)
  return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${lines.join('')}`
}

function labelsText(labels: Record<string, string>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
