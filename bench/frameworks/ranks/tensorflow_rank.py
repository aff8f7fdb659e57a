"""What the ranks of TensorFlow share: how a process is set up, data, and the step of hbench's own ranks."""

import hashlib
import os

# Read by the import. Behind a proxy, which is asked for addresses of ranks too, the first step would hang.
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
for proxy in ("grpc_proxy", "https_proxy", "http_proxy"):
    os.environ.pop(proxy, None)

import tensorflow as tf

import hbench_rank
import tensorflow_models

BATCHES = 4
RATE = 0.01
# A pinned process has one by default: an operation that waits for another rank then blocks what that one waits for.
INTER_OP_THREADS = 8


def version():
    return tf.__version__


def set_up():
    """One thread computes, as in all frameworks; before TensorFlow's first operation."""
    tf.config.set_visible_devices([], "GPU")
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(INTER_OP_THREADS)


def make_batch(case, seed):
    """Random images and labels."""
    batch, size = case["batch_per_gpu"], case["image_size"]
    return (tf.random.stateless_normal((batch, size, size, 3), [seed, 1]),
            tf.random.stateless_uniform((batch,), [seed, 2], 0, tensorflow_models.CLASSES, tf.int64))


def gradients_of(model, images, labels):
    """The loss, and the gradients of all parameters."""
    with tf.GradientTape() as tape:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(images))
        loss = tf.reduce_mean(losses)
    return loss, tape.gradient(loss, model.trainable_variables)


def update(model, gradients):
    """The optimizer of hbench's own ranks, in TensorFlow's fastest form."""
    for variable, gradient in zip(model.trainable_variables, gradients):
        tf.raw_ops.ResourceApplyGradientDescent(var=variable.handle, alpha=RATE, delta=gradient)


def count(model):
    """How many parameters there are."""
    return sum(variable.shape.num_elements() for variable in model.trainable_variables)


def digest_of(model):
    """Equal where all bits of all parameters are."""
    sums = hashlib.sha256()
    for variable in model.trainable_variables:
        sums.update(variable.numpy())
    return sums.hexdigest()[:16]
