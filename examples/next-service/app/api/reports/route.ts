// Routes of the service itself: POST creates a report, GET ?id=task-… streams its progress to an EventSource. A real service first checks
// who asks.
import { streamResponse } from 'errand/http'
import { z } from 'zod'
import { service } from '../../../lib/engine.ts'

const body = z.strictObject({ topic: z.string().min(1).max(200) })

export async function POST(request: Request): Promise<Response> {
  const parsed = body.safeParse(await request.json().catch(() => undefined))
  if (!parsed.success) return Response.json({ error: 'Expected { "topic": "…" }.' }, { status: 400 })
  const { engine } = await service()
  const task = await engine.create({ executor: 'report', input: parsed.data })
  const progress = `/api/reports?id=${task.id}`
  return Response.json({ taskId: task.id, progress }, { status: 202, headers: { location: progress } })
}

export async function GET(request: Request): Promise<Response> {
  const { engine } = await service()
  return await streamResponse(engine, new URL(request.url).searchParams.get('id') ?? '', request)
}
