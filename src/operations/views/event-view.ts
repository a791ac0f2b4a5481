// Input and output fields for positions of the feed.
import { z } from 'zod'
import { once } from '../../core/once.ts'

export const positionSchema = once(() => z.int().min(0))
