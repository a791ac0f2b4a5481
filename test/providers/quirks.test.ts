// Each quirk of a server, through the real client package.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { expect, it, onTestFinished } from 'vitest'
import { runModelStep } from '../../src/agents/models/model-step.ts'
import { failureOf, hello, never } from '../agents/models/chunks.ts'
import { quirks } from './quirks.ts'

it.each(quirks.map((quirk) => [quirk.title, quirk] as const))('a model step with %s', async (_title, quirk) => {
  const { status = 200, headers = { 'content-type': 'text/event-stream' }, body, answer, failure } = quirk
  const server = createServer((_request, response) => response.writeHead(status, headers).end(body))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const model = createOpenAICompatible({ name: 'local', baseURL: `http://127.0.0.1:${port}/v1`, includeUsage: true })(
    'm',
  )
  const step = runModelStep(model, hello, never())
  if (failure !== undefined) {
    const { message, ...rest } = failure
    expect(await failureOf(step)).toMatchObject({ ...rest, message: expect.stringMatching(message) })
    return
  }
  const { content, toolCalls, finish } = await step
  expect({
    content,
    calls: toolCalls.map((call) => [call.function.name, call.function.arguments]),
    finish: finish?.reason,
  }).toMatchObject({
    content: answer?.content ?? '',
    calls: answer?.calls ?? [],
    finish: answer?.finish ?? (answer?.calls === undefined ? 'stop' : 'tool-calls'),
  })
})
