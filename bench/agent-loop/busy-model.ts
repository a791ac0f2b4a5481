// A model without latency: every step returns a short text and a number of tool calls, until all steps are done. It records when it
// is called, so that the time between two steps is the time of the loop.
import { performance } from 'node:perf_hooks'
import type { ModelCallOptions } from '../../src/agents/models/model-prompt.ts'

export interface Course {
  /** Steps with calls; one more ends the task. */
  steps: number
  /** Calls in each step. */
  calls: number
  /** Tools that are offered besides and never called. */
  idleTools: number
}

/** Which step of its conversation a prompt asks for, from 1. */
export function turnOf(prompt: ModelCallOptions['prompt']): number {
  return prompt.filter(({ role }) => role === 'assistant').length + 1
}

/** Serves any number of conversations; its times mean something if there is one. */
export class BusyModel {
  readonly specificationVersion = 'v4'
  readonly provider = 'bench'
  readonly modelId = 'busy'
  readonly #course: Course
  readonly #askedAt: number[] = []
  #conversation = 0

  constructor(course: Course) {
    this.#course = course
  }

  /** Milliseconds of each step with its calls, from one model call to the next. */
  get stepsMs(): number[] {
    return this.#askedAt.slice(1).map((at, index) => at - (this.#askedAt[index] as number))
  }

  /** Characters of the conversation at the last step, to check that all variants have done the same. */
  get conversation(): number {
    return this.#conversation
  }

  async doStream({ prompt }: ModelCallOptions): Promise<{ stream: ReadableStream<unknown> }> {
    this.#askedAt.push(performance.now())
    const turn = turnOf(prompt)
    const isLast = turn > this.#course.steps
    if (isLast) this.#conversation = JSON.stringify(prompt).length
    const parts = isLast ? end() : this.#work(turn)
    return {
      stream: new ReadableStream({
        start(controller) {
          for (const part of parts) controller.enqueue(part)
          controller.close()
        },
      }),
    }
  }

  #work(turn: number): unknown[] {
    const asked = Array.from({ length: this.#course.calls }, (_, index) => ({
      type: 'tool-call',
      toolCallId: `call_${turn}_${index}`,
      ...(index % 2 === 0
        ? { toolName: 'bench_look_up', input: JSON.stringify({ key: `entry ${turn}.${index}` }) }
        : { toolName: 'bench_take_note', input: JSON.stringify({ text: `seen in step ${turn}` }) }),
    }))
    return [{ type: 'text-delta', id: 'text', delta: `Step ${turn}.` }, ...asked, finish('tool-calls')]
  }
}

function end(): unknown[] {
  return [{ type: 'text-delta', id: 'text', delta: 'Done.' }, finish('stop')]
}

function finish(unified: string) {
  return {
    type: 'finish',
    finishReason: { unified, raw: unified },
    // As many as no conversation here has, so that no prompt looks cut.
    usage: { inputTokens: { total: 100_000 }, outputTokens: { total: 20 } },
  }
}
