// What `--model` may name, and its errors.
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runModelStep, streamModelStep } from '../../../src/agents/models/model-step.ts'
import { namedModel } from '../../../src/agents/models/named-model.ts'
import type { ErrandError } from '../../../src/core/errors.ts'
import { chooseModel } from '../../../src/surfaces/cli/model-source.ts'
import { failureOf, hello, never } from './chunks.ts'
import { startFakeOpenAi } from './fake-openai-server.ts'

const key = 'sk-secret-0123456789abcdef'
const choose = (text: string, env: Record<string, string> = {}) => chooseModel(text, env, { folder: '/nowhere' })

async function folder(files: Record<string, string>): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'errand-model-'))
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text)
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) }
}

describe('script:FILE as a model name', () => {
  it('X-035 the model script:FILE plays its script and reports the provider errand-script', async () => {
    await using place = await folder({ 'demo.yaml': '- text: Hello from a file\n' })
    const notes: string[] = []
    const model = await chooseModel(
      'script:demo.yaml',
      {},
      { folder: place.path },
      { note: (text) => notes.push(text) },
    )
    expect(model).toMatchObject({ provider: 'errand-script', modelId: 'demo.yaml' })
    expect((await runModelStep(model, hello, never())).content).toBe('Hello from a file')
    expect(notes).toEqual([expect.stringMatching(/script demo\.yaml.*no language model is called/)])
  })

  it('the model script:FILE is refused with a missing or invalid file, without quoting its content', async () => {
    await using place = await folder({ 'bad.yaml': '- txt: Hello\n' })
    const notes: string[] = []
    const options = { note: (text: string) => notes.push(text) }
    await expect(chooseModel('script:none.yaml', {}, { folder: place.path }, options)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
    await expect(chooseModel('script:bad.yaml', {}, { folder: place.path }, options)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringMatching(/^bad\.yaml:1:3: .*Did you mean "text"\?/),
    })
    expect(notes).toEqual([])
  })

  it('the model script:FILE is found in the working folder or below', async () => {
    await using place = await folder({ 'demo.yaml': '- text: Hello\n' })
    await mkdir(join(place.path, 'scripts'))
    await symlink('../demo.yaml', join(place.path, 'scripts', 'link.yaml'))
    for (const file of ['./demo.yaml', 'scripts/../demo.yaml', 'scripts/link.yaml', join(place.path, 'demo.yaml')])
      expect(await chooseModel(`script:${file}`, {}, { folder: place.path })).toMatchObject({ modelId: file })
  })

  it('the model script:FILE may be anywhere if the user named it on the command line', async () => {
    await using outside = await folder({ 'there.yaml': '- text: Hello\n' })
    await using place = await folder({})
    const model = `script:${join(outside.path, 'there.yaml')}`
    const given = { folder: place.path, anywhere: true }
    await expect(chooseModel(model, {}, given)).resolves.toMatchObject({ provider: expect.any(String) as string })
    await expect(chooseModel('script:/no/such/place.yaml', {}, given)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await expect(chooseModel(model, {}, { folder: place.path })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  it('V-04 the model script:FILE is refused outside of the folder without revealing whether the file exists', async () => {
    await using outside = await folder({ 'there.yaml': '- text: Hello\n' })
    await using place = await folder({ '.hidden.yaml': '- text: Hello\n' })
    const up = `../${basename(outside.path)}`
    await symlink(join(outside.path, 'there.yaml'), join(place.path, 'link.yaml'))
    await symlink(outside.path, join(place.path, 'folder'))
    await symlink(join(outside.path, 'none.yaml'), join(place.path, 'nowhere.yaml'))
    const refusalOf = async (file: string) => {
      const error = await chooseModel(`script:${file}`, {}, { folder: place.path }).catch(
        (thrown: ErrandError) => thrown,
      )
      const { code, message } = error as ErrandError
      return `${code}: ${message}`.replace(file, 'FILE')
    }
    const same = await refusalOf('/')
    expect(same).toMatch(/^INVALID_INPUT: .*it is in another folder, or hidden/)
    const files = [
      '/etc/passwd',
      '/none',
      '..',
      join(outside.path, 'there.yaml'),
      `${up}/there.yaml`,
      `${up}/none.yaml`,
    ]
    const links = ['link.yaml', 'nowhere.yaml', 'folder/there.yaml', 'folder/none.yaml', 'folder/none/x.yaml']
    for (const file of [...files, ...links, '.hidden.yaml']) expect(await refusalOf(file)).toBe(same)
  })

  it('V-04 the model script:FILE is refused if it is no regular file, such as a pipe, or is too large', async () => {
    await using place = await folder({ 'large.yaml': '' })
    await mkdir(join(place.path, 'folder'))
    await truncate(join(place.path, 'large.yaml'), 5 * 1024 * 1024)
    const fifos = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `${name}.yaml`)
    execFileSync('mkfifo', fifos, { cwd: place.path })
    // As many as there are threads for input and output: none of them may block.
    const refused = (file: string, why: string) =>
      expect(chooseModel(`script:${file}`, {}, { folder: place.path })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining(`${why}. A script is a text file of at most 4 MiB`) as string,
      })
    await Promise.all(fifos.map((file) => refused(file, 'it is not a text file')))
    await refused('folder', 'it is not a text file')
    await refused('large.yaml', 'it is too large')
  })
})

describe('provider:name as a model name', () => {
  it('the model provider:name calls the server of the provider with its key, and counts tokens', async () => {
    await using server = await startFakeOpenAi([{ text: 'Hello from a server' }])
    const env = { MY_HOST_BASE_URL: server.baseURL, MY_HOST_API_KEY: ` ${key}\n` }
    const model = await choose('my-host:family/model:8b', env)
    expect(model).toMatchObject({ provider: 'my-host.chat', modelId: 'family/model:8b' })
    expect(await runModelStep(model, hello, never())).toMatchObject({
      content: 'Hello from a server',
      finish: { usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } },
    })
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${key}`)
    expect(server.requests[0]?.body).toMatchObject({
      model: 'family/model:8b',
      stream_options: { include_usage: true },
    })
  })

  it('the model provider:name needs no key for a server on this machine', async () => {
    await using server = await startFakeOpenAi([{ text: 'local' }])
    const model = await choose('local:any', { LOCAL_BASE_URL: server.baseURL })
    expect((await runModelStep(model, hello, never())).content).toBe('local')
    expect(server.requests[0]?.headers.authorization).toBeUndefined()
    for (const address of [
      'http://localhost:1/v1',
      'http://[::1]:1/v1',
      'http://gpu.localhost/v1',
      'http://127.8.9.1/v1',
    ]) {
      expect((await choose('local:any', { LOCAL_BASE_URL: address })).modelId).toBe('any')
    }
    expect((await choose('ollama:llama3.2:3b')).modelId).toBe('llama3.2:3b')
    expect((await choose('lmstudio:qwen')).provider).toBe('lmstudio.chat')
  })

  it.each(['openai', 'groq', 'mistral', 'together', 'deepseek', 'openrouter', 'xai'])(
    'the model provider:name uses the address and the key variable of the provider %s',
    async (provider) => {
      const variable = `${provider.toUpperCase()}_API_KEY`
      await expect(choose(`${provider}:x`)).rejects.toMatchObject({
        code: 'NO_MODEL',
        message: expect.stringContaining(variable),
        details: { provider, variable },
      })
      await expect(choose(`${provider}:x`, { [variable]: '  ' })).rejects.toMatchObject({ code: 'NO_MODEL' })
      expect(await choose(`${provider}:x`, { [variable]: key })).toMatchObject({ modelId: 'x' })
    },
  )

  it('the model provider:name uses another address for a known provider if its variable is set', async () => {
    await using server = await startFakeOpenAi([{ text: 'through a proxy' }])
    const model = await choose('openai:x', { OPENAI_BASE_URL: server.baseURL })
    expect((await runModelStep(model, hello, never())).content).toBe('through a proxy')
    await expect(choose('ollama:x', { OLLAMA_BASE_URL: 'https://ollama.example/v1' })).rejects.toMatchObject({
      details: { variable: 'OLLAMA_API_KEY' },
    })
  })

  it('the model provider:name names the missing variable for an unknown provider', async () => {
    await expect(choose('opnai:x')).rejects.toMatchObject({
      code: 'NO_MODEL',
      message: expect.stringMatching(/set OPNAI_BASE_URL.*did you mean "openai"/),
      details: { variable: 'OPNAI_BASE_URL', nearest: 'openai' },
    })
    await expect(choose('constructor:x')).rejects.toMatchObject({ code: 'NO_MODEL' })
  })

  it.each([`https://user:${key}@host/v1`, `${key}`, `ftp://host/${key}`])(
    'the model provider:name is refused for an unusable address, without quoting it',
    async (address) => {
      const error = await choose('local:x', { LOCAL_BASE_URL: address }).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'INVALID_INPUT', details: { variable: 'LOCAL_BASE_URL' } })
      expect(`${(error as Error).message} ${JSON.stringify(error)}`).not.toContain('0123456789')
    },
  )

  it.each(['gpt-5-mini', ':x', 'openai:', 'openai: ', '', 'o p:x', '../x:y'])(
    'the model name "%s" is refused',
    async (text) => {
      await expect(choose(text, { OPENAI_API_KEY: key })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    },
  )

  it.each([
    ['anthropic', 'ANTHROPIC_API_KEY', 'anthropic.messages'],
    ['deepseek', 'DEEPSEEK_API_KEY', 'deepseek.chat'],
    ['google', 'GOOGLE_API_KEY', 'google.generative-ai'],
    ['mistral', 'MISTRAL_API_KEY', 'mistral.chat'],
    ['openai', 'OPENAI_API_KEY', 'openai.responses'],
    ['xai', 'XAI_API_KEY', 'xai.responses'],
  ])(
    'the model %s:name is that of the package of the provider, if it is installed',
    async (provider, variable, found) => {
      expect(await choose(`${provider}:x`, { [variable]: key })).toMatchObject({ modelId: 'x', provider: found })
      await expect(choose(`${provider}:x`)).rejects.toMatchObject({ code: 'NO_MODEL', details: { variable } })
    },
  )

  it('openai-compatible names a protocol: without an address it is refused, with how to give one', async () => {
    await expect(choose('openai-compatible:x', { OPENAI_COMPATIBLE_API_KEY: key })).rejects.toMatchObject({
      code: 'NO_MODEL',
      message: expect.stringMatching(/Set OPENAI_COMPATIBLE_BASE_URL to .*http:.*`local:MODEL` with LOCAL_BASE_URL/),
      details: { variable: 'OPENAI_COMPATIBLE_BASE_URL' },
    })
    const env = { OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:1' }
    expect(await choose('openai-compatible:x', env)).toMatchObject({ modelId: 'x' })
  })

  it('a provider whose models need its package says which one to install, and any other package may be named', async () => {
    for (const [provider, needed] of [
      ['azure', '@ai-sdk/azure'],
      ['bedrock', '@ai-sdk/amazon-bedrock'],
    ] as const) {
      // As Node reports it.
      const missing = Object.assign(new Error(`Cannot find package '${needed}' imported from /app/x.js`), {
        code: 'ERR_MODULE_NOT_FOUND',
      })
      await expect(
        namedModel(`${provider}:x`, {}, { loadPackage: () => Promise.reject(missing) }),
      ).rejects.toMatchObject({
        code: 'NOT_OFFERED',
        message: expect.stringContaining(`npm install ${needed}`),
        details: { package: needed },
      })
    }
    const loaded: string[] = []
    const createCohere =
      ({ apiKey }: { apiKey?: string }) =>
      (modelId: string) => ({
        specificationVersion: 'v3',
        provider: `cohere with ${apiKey}`,
        modelId,
        doStream: () => Promise.reject(new Error('never')),
      })
    const loadPackage = async (name: string) => {
      loaded.push(name)
      return { VERSION: '1', createCohere }
    }
    expect(await namedModel('cohere:command', { COHERE_API_KEY: key }, { loadPackage })).toMatchObject({
      modelId: 'command',
      provider: `cohere with ${key}`,
    })
    expect(loaded).toEqual(['@ai-sdk/cohere'])
    for (const useless of [{ VERSION: '1' }, { createClient: () => ({}) }]) {
      const named = namedModel('cohere:command', {}, { loadPackage: async () => useless })
      await expect(named).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    }
  })

  it.each([
    ['a page', 'text/html', '<html><body>Sign in</body></html>', 'text/html in place of a stream: <html><body>Sign in'],
    [
      'an error with status 200',
      'application/json',
      '{"error":"Unexpected endpoint"}',
      'Unexpected endpoint. Check the address',
    ],
  ])('a server that answers with %s in place of a stream is quoted', async (_what, type, body, said) => {
    const server = createServer((_request, response) => response.writeHead(200, { 'content-type': type }).end(body))
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const model = await choose('local:x', { LOCAL_BASE_URL: `http://127.0.0.1:${port}` })
    const failure = await failureOf(runModelStep(model, hello, never()))
    expect(failure).toMatchObject({ code: 'protocol', retry: false, message: expect.stringContaining(said) })
  })

  it('ANTHROPIC_BASE_URL is the address for the package of Anthropic, not that of a server with chat completions', async () => {
    const address = 'https://proxy.test/v1'
    const env = { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: address }
    const createAnthropic = ({ baseURL }: { baseURL: string }) => createOpenAICompatible({ name: baseURL, baseURL })
    const model = await namedModel('anthropic:claude', env, { loadPackage: async () => ({ createAnthropic }) })
    expect(model.provider).toContain(address)
    const missing = Object.assign(new Error("Cannot find package '@ai-sdk/anthropic' imported from /app/x.js"), {
      code: 'ERR_MODULE_NOT_FOUND',
    })
    await expect(
      namedModel('anthropic:claude', env, { loadPackage: () => Promise.reject(missing) }),
    ).rejects.toMatchObject({ code: 'NOT_OFFERED', message: expect.stringContaining('npm install @ai-sdk/anthropic') })
  })

  it.each(['text/plain; charset=utf-8', 'application/octet-stream'])(
    'a stream of events that a server calls %s is read as it comes',
    async (type) => {
      const event = (delta: object, finish_reason: string | null = null) =>
        `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
      const whole = Promise.withResolvers<void>()
      const server = createServer((_request, response) => {
        response.writeHead(200, { 'content-type': type })
        response.write(`: hello\n\n${event({ content: 'Hi' })}`)
        void whole.promise.then(() => response.end(event({}, 'stop')))
      })
      await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
      onTestFinished(() => void server.close())
      const { port } = server.address() as AddressInfo
      const model = await choose('local:x', { LOCAL_BASE_URL: `http://127.0.0.1:${port}` })
      const chunks: unknown[] = []
      for await (const chunk of streamModelStep(model, hello, never())) {
        chunks.push(chunk)
        whole.resolve()
      }
      expect(chunks).toMatchObject([{ content: 'Hi' }, { finish: { reason: 'stop' } }])
    },
  )

  it('an answer without an end that is no stream is quoted', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' })
      response.write(`<html>Sign in${' '.repeat(5_000)}`)
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const model = await choose('local:x', { LOCAL_BASE_URL: `http://127.0.0.1:${port}` })
    const failure = await failureOf(runModelStep(model, hello, never()))
    expect(failure.message).toContain('text/html in place of a stream: <html>Sign in.')
  })
})
