// A process with one durable chat, to be killed: its model is a server elsewhere, its tool writes down what it does and
// hangs right after that if configured so.
import { appendFileSync } from 'node:fs'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, isStepCount, streamText, tool } from 'ai'
import { z } from 'zod'
import { durable } from '../../../src/agents/ai/durable.ts'
import { createEngine } from '../../../src/engine/create-engine.ts'
import type { ExecutorTask, Run } from '../../../src/entities/executor.ts'

export interface ChatOrders {
  ledger: string
  effects: string
  baseURL: string
  streams: boolean
  onInterrupt: 'fail' | 'rerun'
  /** The effect after which the tool hangs. */
  hangsAt?: string
}

const orders = JSON.parse(process.argv[2] as string) as ChatOrders
const print = (line: object) => void process.stdout.write(`${JSON.stringify(line)}\n`)

async function chat(_task: ExecutorTask, run: Run): Promise<unknown> {
  const provider = createOpenAICompatible({ name: 'local', baseURL: orders.baseURL })
  const book = tool({
    description: 'Books a room in a city.',
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }, { toolCallId }) => {
      appendFileSync(orders.effects, `${toolCallId} ${city}\n`)
      if (city === orders.hangsAt) {
        print({ hangs: city })
        await new Promise(() => {})
      }
      return `Booked in ${city}`
    },
  })
  const asked = {
    model: durable(run, provider('local-1')),
    tools: durable(run, { book }, { onInterrupt: orders.onInterrupt }),
    prompt: 'Book the journey.',
    stopWhen: isStepCount(10),
  }
  const { text, responseMessages } = orders.streams ? streamText(asked) : await generateText(asked)
  return { text: await text, messages: await responseMessages }
}

const engine = await createEngine({ ledger: orders.ledger, executors: { chat } })
const task = await engine.create({ executor: 'chat', key: 'journey' })
print({ outcome: await engine.settled(task) })
await engine.close()
