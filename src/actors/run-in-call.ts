// The run as the handler of an ability gets it: without what ends a run. A call in flight keeps its run alive, so a question or a
// wait inside of it would hold the slot for ever, and nobody would ever be asked.
import { ErrandError } from '../errors.ts'
import type { Run } from '../executor.ts'

export function runInCall(run: Run): Run {
  const refuse = (verb: string) => (): Promise<never> =>
    Promise.reject(
      new ErrandError(
        'INVALID_INPUT',
        `run.${verb} cannot rest inside a call: the call keeps the run alive. Let the executor do it, or a model with its own tools.`,
        { verb },
      ),
    )
  return {
    number: run.number,
    attempt: run.attempt,
    signal: run.signal,
    call: run.call.bind(run) as Run['call'],
    invoke: run.invoke.bind(run) as Run['invoke'],
    message: (...given) => run.message(...given),
    emit: (...given) => run.emit(...given),
    spawn: run.spawn.bind(run) as Run['spawn'],
    progress: (...given) => run.progress(...given),
    dependencies: () => run.dependencies(),
    now: (...given) => run.now(...given),
    uuid: (...given) => run.uuid(...given),
    random: (...given) => run.random(...given),
    ask: refuse('ask'),
    wait: refuse('wait'),
    sleep: refuse('sleep'),
  }
}
